import { readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { OperatorError } from '../operator-error.ts'

/** As many as Linux follows: then they lead in a circle. */
const mostLinks = 40

/** The file that a link leads to, even if it is not there yet: SQLite keeps its -wal and -shm files beside that one. */
export function behindLinks(path: string, most = mostLinks): string {
  if (most === 0) return path
  try {
    return behindLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)), most - 1)
  } catch {
    // It is no link.
    return path
  }
}

/** Whether there is a database. Where only its log is left it throws: SQLite would begin anew and delete that. */
export function isThere(path: string): boolean {
  // The log first: SQLite fills it after the file, so that nobody else's first start is taken for a loss.
  const hasLog = isFilled(`${path}-wal`)
  if (hasLog && !isFilled(path))
    throw new OperatorError(
      `The SQLite database ${path} is missing or empty, but a log of its changes, ${path}-wal, is there.`,
      'Put the file back where it was. If it is gone for good, move its -wal and -shm files away too, or run: ugs restore',
    )
  return sizeOf(path) !== undefined
}

function isFilled(path: string): boolean {
  return (sizeOf(path) ?? 0) > 0
}

/** Undefined where there is no such file: one that may not be looked at is not missing. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size
  } catch (error) {
    throw new OperatorError(
      `Whether there is a database cannot be seen: ${(error as Error).message}.`,
      'Run it as the user the service runs as, or check DATABASE_URL.',
      error,
    )
  }
}
