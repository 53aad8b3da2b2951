import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoadOrder, LoadResult } from './generator.ts'
import { patienceSeconds } from './load.ts'
import { numberMark } from './names.ts'
import { lookUp, verification, type Workload } from './requests.ts'

/** Undefined where it is not installed. */
export const wrkVersion = spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout?.split(' ')[1]

/** wrk costs less than a generator in JavaScript, but it keeps no state and counts in whole seconds. */
export function wrkCan({ operation }: Workload, ...seconds: number[]): boolean {
  return wrkVersion !== undefined && seconds.every(Number.isInteger) && operation in texts
}

export async function loadByWrk({ url, workload, connections, seconds }: LoadOrder): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-wrk-'))
  try {
    const script = join(folder, 'requests.lua')
    writeFileSync(script, lua(workload))
    const child = spawn('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url], {
      timeout: (seconds + patienceSeconds) * 1000,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code, signal]] = await Promise.all([
      child.stdout.setEncoding('utf8').toArray(),
      once(child, 'close'),
    ])
    if (code !== 0) throw new Error(`wrk ended with ${code ?? signal}`)
    return readWrk(output.join(''))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What wrk prints when it is done. */
export function readWrk(text: string): LoadResult {
  const number = (pattern: RegExp) => {
    const found = pattern.exec(text)?.[1]
    if (found === undefined) throw new Error(`wrk printed something else: ${text}`)
    return Number(found)
  }
  const requests = number(/(\d+) requests in /)
  const seconds = number(/ requests in ([\d.]+)s/)
  if (requests === 0) throw new Error('wrk got no answer')
  return { requests, errors: errorsIn(text), seconds, busy: number(/busy ([\d.]+)/) / seconds }
}

function errorsIn(text: string): number {
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? '0'
  const sockets = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)?.slice(1) ?? []
  return [refused, ...sockets].reduce((sum, count) => sum + Number(count), 0)
}

const texts: Partial<Record<Workload['operation'], (workload: Workload) => string>> = {
  lookup: (workload) => lookUp(0, workload),
  verify: (workload) => verification(0, workload),
  fixed: ({ fixed = '' }) => fixed,
}

function lua(workload: Workload): string {
  const text = texts[workload.operation]?.(workload) ?? ''
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
