import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Logger } from 'pino'

/** Files for the database, the log and all else that is no connection of a client. */
const reserved = 64
const quietFor = 60_000

/**
 * As many connections as there are files left for. Without a limit, a process that has run out of them takes no more until
 * some are closed; but a worker is lost for good: Node cannot hand it the next connection, and waits for ever to be told
 * that it has it before it hands it another.
 */
export function limitConnections(server: Server, log: Logger): void {
  server.maxConnections = Math.max(1, mostOpenFiles() - reserved)
  // A worker would give back what is too much, and be given it again without a pause. Node's types leave this out.
  Object.assign(server, { dropMaxConnection: true })
  let quietUntil = 0
  server.on('drop', () => {
    const now = performance.now()
    if (now < quietUntil) return
    quietUntil = now + quietFor
    log.warn({ most: server.maxConnections }, 'connections are closed unanswered: too many files would be open')
  })
}

function mostOpenFiles(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity)
  } catch {
    // Not Linux.
    return Infinity
  }
}
