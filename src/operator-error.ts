/** A failure that the operator can mend: one sentence, and a remedy. */
export class OperatorError extends Error {
  readonly remedy: string

  constructor(message: string, remedy: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'OperatorError'
    this.remedy = remedy
  }
}
