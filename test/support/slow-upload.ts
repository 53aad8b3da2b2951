import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { testApiToken } from './service-process.ts'

/** A get-or-create whose body comes in two halves, with all the time one likes in between. */
export class SlowUpload {
  readonly answer: Promise<{ status: number | undefined; text: string }>
  readonly #request: ClientRequest
  readonly #rest: string

  private constructor(sending: ClientRequest, rest: string) {
    this.#request = sending
    this.#rest = rest
    this.answer = once(sending, 'response').then(async ([response]: IncomingMessage[]) => {
      const parts = await (response as IncomingMessage).setEncoding('utf8').toArray()
      return { status: response?.statusCode, text: parts.join('') }
    })
    // A test that wants the connection cut looks at it itself.
    this.answer.catch(() => {})
  }

  /** Returns when the service has the head and the first half, so that the request is under way there. */
  static async begin(url: string, userGroupId: string, apiToken = testApiToken): Promise<SlowUpload> {
    const body = JSON.stringify({ user_group_id: userGroupId })
    const sending = request(`${url}/api/user`, {
      method: 'GET',
      agent: false,
      headers: {
        authorization: `Token ${apiToken}`,
        'content-type': 'application/json',
        'content-length': body.length,
        // The service says "continue" once it has read the head: a moment one can wait for.
        expect: '100-continue',
      },
    })
    const upload = new SlowUpload(sending, body.slice(body.length / 2))
    sending.flushHeaders()
    await once(sending, 'continue')
    sending.write(body.slice(0, body.length / 2))
    return upload
  }

  finish(): void {
    this.#request.end(this.#rest)
  }
}
