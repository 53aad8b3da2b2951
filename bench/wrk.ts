import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoadOrder, LoadResult } from './generator.ts'
import { format, groupToken, lookUp, numberMark, type Workload } from './requests.ts'

const isThere = spawnSync('wrk', ['--version']).error === undefined

/** wrk costs less than a generator in JavaScript, but it keeps no state and counts in whole seconds. */
export function wrkCan({ workload, seconds, rate }: LoadOrder): boolean {
  return isThere && rate === undefined && Number.isInteger(seconds) && workload.operation in bodies
}

export async function loadByWrk({ url, workload, connections, seconds }: LoadOrder): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-wrk-'))
  const script = join(folder, 'requests.lua')
  writeFileSync(script, lua(workload))
  const child = spawn('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url])
  const [output] = await Promise.all([child.stdout.setEncoding('utf8').toArray(), once(child, 'close')])
  rmSync(folder, { recursive: true })
  const text = output.join('')
  const [, requests = '0', time = '1'] = /(\d+) requests in ([\d.]+)s/.exec(text) ?? []
  const [, busy = '0'] = /busy ([\d.]+)/.exec(text) ?? []
  return {
    requests: Number(requests),
    errors: errorsIn(text),
    seconds: Number(time),
    busy: Number(busy) / Number(time),
  }
}

function errorsIn(text: string): number {
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? '0'
  const sockets = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)?.slice(1) ?? []
  return [refused, ...sockets].reduce((sum, count) => sum + Number(count), 0)
}

const bodies: Partial<Record<Workload['operation'], (workload: Workload) => string>> = {
  lookup: (workload) => lookUp(0, workload),
  verify: ({ apiToken }) => format('POST', '/api/verify', apiToken, { token: groupToken(0) }),
  fixed: ({ fixed = '' }) => fixed,
}

function lua(workload: Workload): string {
  const text = bodies[workload.operation]?.(workload) ?? ''
  const [head = '', tail] = text.split(numberMark)
  const number = `string.format('%0${numberMark.length}d', math.random(0, ${workload.spread - 1}))`
  const body = tail === undefined ? 'head' : `head .. ${number} .. tail`
  return `
    local head, tail = ${JSON.stringify(head)}, ${JSON.stringify(tail ?? '')}
    function init() math.randomseed(os.time()) end
    function request() return ${body} end
    function done() io.write('busy ' .. os.clock() .. '\\n') end
  `
}
