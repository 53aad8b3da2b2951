import { type Stats, statSync } from 'node:fs'
import { ServiceError } from '../errors.ts'

/**
 * Insists that paths still lead to the files that are open. What is written to one that was deleted, or that another was
 * put in the place of, is gone with the process, and what is read from it is of the past.
 */
export class FilesInPlace {
  readonly #files: readonly OpenedFile[]

  constructor(...paths: string[]) {
    this.#files = paths.map((path) => ({ path, opened: at(path) }))
  }

  areAllThere(): boolean {
    return this.#files.every(isInPlace)
  }

  insist(): void {
    const astray = this.#files.find((file) => !isInPlace(file))
    if (astray === undefined) return
    const cause = new Error(`${astray.path} was taken away or replaced; put it back, or restart the service`)
    throw new ServiceError('unavailable', { cause })
  }
}

interface OpenedFile {
  path: string
  opened: Stats | undefined
}

function isInPlace({ path, opened }: OpenedFile): boolean {
  const there = at(path)
  return there?.ino === opened?.ino && there?.dev === opened?.dev
}

function at(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
