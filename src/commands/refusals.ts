import { createWriteStream, type WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { ServiceError } from '../errors.ts'
import { OperatorError } from '../operator-error.ts'
import { say } from './terminal.ts'

/** Tells which lines were refused, and why; never what stood there, which may be a token. */
export class Refusals {
  readonly #file: WriteStream | undefined
  #failure: unknown

  constructor(file: string | undefined) {
    this.#file = file === undefined ? undefined : createWriteStream(file)
    this.#file?.on('error', (error) => {
      this.#failure = error
    })
  }

  add(line: number, { code, field, message }: ServiceError): void {
    if (this.#file === undefined) say(`line ${line}: ${message}`)
    else this.#file.write(`${JSON.stringify({ line, code, ...(field !== undefined && { field }), message })}\n`)
  }

  async end(): Promise<void> {
    if (this.#file === undefined) return
    this.#file.end()
    await finished(this.#file).catch((error: Error) => {
      throw new OperatorError(
        `The refused lines cannot be written: ${error.message}.`,
        'Choose another file for --refused.',
        this.#failure,
      )
    })
  }
}
