import { existsSync, statSync } from 'node:fs'
import { OperatorError } from '../operator-error.ts'

/** Whether there is a database. Where only its log is left it throws: SQLite would begin anew and delete that. */
export function isThere(path: string): boolean {
  // The log first: SQLite fills it after the file, so that nobody else's first start is taken for a loss.
  const hasLog = isFilled(`${path}-wal`)
  if (hasLog && !isFilled(path))
    throw new OperatorError(
      `The SQLite database ${path} is missing or empty, but a log of its changes, ${path}-wal, is there.`,
      'Put the file back where it was. If it is gone for good, move its -wal and -shm files away too, or run: ugs restore',
    )
  return existsSync(path)
}

function isFilled(path: string): boolean {
  try {
    return statSync(path).size > 0
  } catch {
    return false
  }
}
