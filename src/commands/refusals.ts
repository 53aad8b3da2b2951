import { once } from 'node:events'
import { createWriteStream, type Stats, type WriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import type { ServiceError } from '../errors.ts'
import { OperatorError } from '../operator-error.ts'
import { say } from './terminal.ts'

const anotherFile = 'Choose another file for --refused.'

/** Tells which lines were refused, and why; never what stood there, which may be a token. */
export class Refusals {
  readonly #file: WriteStream | undefined

  private constructor(file: WriteStream | undefined) {
    this.#file = file
    // `end` tells of it; unheard, it would end the process.
    this.#file?.on('error', () => {})
  }

  /** Before anything is imported, so that what is refused can be told; never over what is to be read. */
  static async open(file: string | undefined, input: Stats): Promise<Refusals> {
    if (file === undefined) return new Refusals(undefined)
    const there = await stat(file).catch(() => undefined)
    if (there?.isFile() && there.dev === input.dev && there.ino === input.ino)
      throw new OperatorError(`${file} is the file that is imported.`, anotherFile)
    const stream = createWriteStream(file)
    await once(stream, 'open').catch(unwritable)
    return new Refusals(stream)
  }

  add(line: number, { code, field, message }: ServiceError): void {
    if (this.#file === undefined) say(`line ${line}: ${message}`)
    else this.#file.write(`${JSON.stringify({ line, code, ...(field !== undefined && { field }), message })}\n`)
  }

  async end(): Promise<void> {
    if (this.#file === undefined) return
    this.#file.end()
    await finished(this.#file).catch(unwritable)
  }
}

function unwritable(error: Error): never {
  throw new OperatorError(`The refused lines cannot be written: ${error.message}.`, anotherFile, error)
}
