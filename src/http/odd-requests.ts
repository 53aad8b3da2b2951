import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ServiceError } from '../errors.ts'
import type { ExchangesUnderWay } from './connections.ts'
import { lastAnswer } from './failure.ts'
import { dropBody, hasReadEnough, limitReading } from './linger.ts'

/** What Node would answer in a shape of its own, or not at all. */
export function answerOddRequests(
  server: Server,
  underWay: ExchangesUnderWay,
  onAnswered: (status: number) => void,
): void {
  server.on('connect', (_request, socket: Socket) => {
    // Node minds it no more: a client that resets the connection would end the process.
    socket.on('error', () => {})
    const refusal = new ServiceError('invalid_request', { message: 'This is no proxy: CONNECT is not served.' })
    const status = underWay.endWith(socket, refusal)
    if (status !== undefined) onAnswered(status)
    // Nobody else reads from it any more.
    socket.on('data', () => hasReadEnough(socket) && socket.pause())
  })
  server.on('checkExpectation', (request, response: ServerResponse) => {
    underWay.endBehind(request.socket)
    limitReading(request.socket)
    dropBody(request)
    const { headers, body } = lastAnswer(new ServiceError('expectation_failed'))
    response.writeHead(417, headers).end(body)
    onAnswered(417)
  })
}
