import type { ServiceProcess } from './service-process.ts'

export interface LogLine {
  level: string
  pid: number
  msg: string
  [more: string]: unknown
}

/** What the service has logged so far; a line still being written is left for the next time. */
export function logged(service: ServiceProcess): LogLine[] {
  const lines = service.output().stdout.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as LogLine)
}

/** The processes that have answered a request. */
export function answeringPids(service: ServiceProcess): number[] {
  return [...new Set(logged(service).flatMap(({ msg, pid }) => (msg === 'request' ? [pid] : [])))]
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
