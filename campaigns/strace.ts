import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { type DiskEvent, theFolder } from './simulated-disk.ts'

// Those with a question mark are not on every kind of machine.
const calls =
  'openat,write,writev,pwrite64,sendto,sendmsg,ftruncate,fsync,fdatasync,?link,linkat,?rename,?renameat,renameat2,?unlink,unlinkat'
const how = ['-f', '-q', '--seccomp-bpf', '-y', '-xx', '-s', '1000000', '-e', calls]

/** Whether this machine has it, and lets us use it. */
export const canTrace = spawnSync('strace', [...how, '-o', devNull, 'true']).status === 0

/** In front of a command: that runs as always, under its own process id, while a log is kept of what it does. */
export function traced(log: string): string[] {
  return ['strace', '-D', ...how, '-o', log]
}

/** What the log of a killed process says of a folder and of what was sent; undefined while it is being written. */
export function readTrace(log: string, pid: number, folder: string): DiskEvent[] | undefined {
  const lines = readFileSync(log, 'latin1').trimEnd().split('\n')
  if (!new RegExp(`^${pid} +\\+\\+\\+ killed`).test(lines.at(-1) ?? '')) return undefined
  const begun = new Map<string, string>()
  return lines.flatMap((line) => {
    const [thread = ''] = line.split(' ', 1)
    const call = line.slice(thread.length).trimStart()
    // A flush counts when it has ended, all else as soon as it has begun.
    if (/^<\.\.\. \w*sync resumed>.* = 0$/.test(call)) return eventOf(begun.get(thread) ?? '', folder)
    if (/^\w*sync\(.*<unfinished \.\.\.>$/.test(call)) {
      begun.set(thread, call)
      return []
    }
    return / = -1 E/.test(call.slice(-100)) ? [] : eventOf(call, folder)
  })
}

function eventOf(call: string, folder: string): DiskEvent[] {
  const [, name = '', on = ''] = /^(\w+)\((?:\d+<([^>]*)>)?/.exec(call) ?? []
  const [first, second] = /^(openat|link|rename|unlink)/.test(name)
    ? texts(call).map((path) => nameIn(folder, path))
    : []
  if (name === 'openat') return first && call.includes('O_CREAT') ? [{ does: 'create', file: first }] : []
  if (name.startsWith('unlink')) return first ? [{ does: 'unlink', file: first }] : []
  if (name.startsWith('link')) return first && second ? [{ does: 'link', file: first, to: second }] : []
  if (name.startsWith('rename')) return first && second ? [{ does: 'rename', file: first, to: second }] : []

  if (on.startsWith(escaped('socket:'))) return [{ does: 'send', bytes: Buffer.concat(texts(call).map(unescaped)) }]
  const file = nameIn(folder, on)
  if (file === undefined) return []
  const numbers = call.slice(Math.max(call.lastIndexOf('"'), call.lastIndexOf('>,'))).match(/\d+/g) ?? []
  if (name.endsWith('sync')) return [{ does: 'flush', file }]
  if (name === 'ftruncate') return [{ does: 'truncate', file, size: Number(numbers[0]) }]
  const bytes = Buffer.concat(texts(call).map(unescaped))
  if (name === 'write') return [{ does: 'write', file, at: undefined, bytes }]
  if (name === 'pwrite64') return [{ does: 'write', file, at: Number(numbers[1]), bytes }]
  throw new Error(`nobody expected ${name} on ${file}`)
}

/** What stands in quotation marks. */
function texts(call: string): string[] {
  return call.split('"').filter((_, at) => at % 2 === 1)
}

/** The name of a file below the folder; undefined elsewhere. */
function nameIn(folder: string, path: string): string | undefined {
  const prefix = escaped(folder)
  if (!path.startsWith(prefix)) return undefined
  return unescaped(path.slice(prefix.length)).toString().slice(1) || theFolder
}

function escaped(text: string): string {
  return Buffer.from(text).toString('hex').replaceAll(/../g, '\\x$&')
}

function unescaped(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}
