import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import { OneByOne } from '../one-by-one.ts'
import { Together } from '../together.ts'
import { Arrivals } from './arrivals.ts'
import type { Authenticator } from './authenticate.ts'
import { hasBody, readBody } from './body.ts'
import { mindAllWhenClosing } from './closing.ts'
import { limitConnections } from './connection-limit.ts'
import { ExchangesUnderWay } from './connections.ts'
import { Exchange, type NodesExchange, type Request } from './exchange.ts'
import { answerFailure } from './failure.ts'
import { hangUpOnIdle } from './idle.ts'
import { lingerOver, lingerWhenClosing } from './linger.ts'
import { createServer } from './node-http.ts'
import { answerOddRequests } from './odd-requests.ts'
import type { Answer, Route } from './operation.ts'
import { servePlainRequests } from './plain-connections.ts'
import type { Router } from './router.ts'
import { hangUpOnSlowReaders } from './slow-readers.ts'

export interface ServerOptions {
  router: Router<Route>
  authenticator: Authenticator
  requestId(request: Request): string
  /** After requests have arrived, and before any of them is served. */
  onArrived(): void
  log: Logger
  /** Once for every answer; without an exchange for what was no HTTP. */
  onAnswered(status: number, exchange?: Exchange): void
}

interface Unparsable {
  error: NodeJS.ErrnoException
  socket: Socket
}

interface Finished {
  exchange: Exchange
  answer: Answer
}

/** Answers that are held until all of them can be sent: they may be large. */
const mostInStep = 64

const settings = {
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  // Node looks for overdue requests at an interval of its own, by default as long as the time-out itself.
  connectionsCheckingInterval: 1_000,
  // We look for idle connections ourselves.
  keepAliveTimeout: 0,
  maxHeaderSize: 16 * 1024,
  // Node would refuse a request without one in a shape of its own.
  requireHostHeader: false,
  // Of two that should be one Node would take the first, where a proxy in front may have looked at the last: neither counts.
  joinDuplicateHeaders: true,
}

/**
 * Takes every request through the same steps: find its route, find out who is calling, read the body, answer. A step
 * returns a promise only when it has to wait, as most requests do not.
 *
 * While the database is asked whether a caller seen before may still come in, the request is read and looked up ahead:
 * that saves the second of two round trips. Nothing is answered and nothing written before the caller is admitted.
 */
export function createHttpServer(options: ServerOptions): Server {
  const { router, authenticator, requestId, onArrived, log, onAnswered } = options
  const underWay = new ExchangesUnderWay()

  // All take a step before any takes the next: one by one they would cost half as much again.
  const serveAll = (exchanges: readonly Exchange[]) => {
    for (const exchange of exchanges) exchange.id = requestId(exchange.request)
    onArrived()
    for (const exchange of exchanges) serve(exchange)
  }
  const answerAll = (finished: readonly Finished[]) => {
    const prepared = finished.filter(writeHead)
    // Nothing else between two of them, however small: it would cost more there than anywhere.
    for (const { exchange, answer } of prepared) exchange.send(answer.content)
    for (const { exchange } of prepared) {
      lookAtReader(exchange)
      onAnswered(200, exchange)
    }
  }
  const finished = new Together<Finished>(process.nextTick, answerAll, mostInStep)
  const brief = new Arrivals<Exchange>(serveAll, () => underWay.returning)
  const perhapsLarge = new OneByOne<Exchange>((exchange) => serveAll([exchange]))
  // Whether the process is alive is not asked behind hundreds of lists.
  const forAnybody = new OneByOne<Exchange>((exchange) => serveAll([exchange]))
  const arrange = (exchange: Exchange) => {
    const { request } = exchange
    // A list, or what anybody may ask for: rare beside the others.
    if (!hasBody(request)) (request.headers.authorization === undefined ? forAnybody : perhapsLarge).add(exchange)
    // What comes in chunks, of one byte perhaps, Node keeps as it comes until it is read.
    else if (request.headers['transfer-encoding'] !== undefined) serveAll([exchange])
    else brief.add(exchange)
  }

  const begin = (exchange: NodesExchange) => {
    const refused = underWay.begin(exchange, () => arrange(exchange))
    if (refused !== undefined) onAnswered(refused)
  }
  const server = createServer(settings, (request, response) => begin(new Exchange(request, response)))
  servePlainRequests(server, { underWay, serve: arrange, refuse: (socket, error) => overdue.add({ error, socket }) })
  server.on('checkContinue', (request, response) => {
    const exchange = new Exchange(request, response)
    exchange.askForBody = () => response.writeContinue()
    begin(exchange)
  })

  function serve(exchange: Exchange): void {
    const { request } = exchange
    try {
      requireOneHost(request)
      const { route, id } = router.find(request.method ?? '', request.url ?? '')
      exchange.operation = route.id
      const waiting = route.scope === null ? undefined : authenticator.admit(exchange, route.scope)
      if (waiting !== undefined && (exchange.caller === null || exchange.askForBody !== undefined)) {
        // Node would keep chunks as they come meanwhile. It goes on by itself as soon as somebody reads them.
        if (request.headers['transfer-encoding'] !== undefined) request.socket.pause()
        waiting.then(() => receive(exchange, route, id)).catch((error) => fail(exchange, error))
      } else {
        if (waiting !== undefined) awaitAdmission(exchange, waiting)
        receive(exchange, route, id)
      }
    } catch (error) {
      fail(exchange, error)
    }
  }

  function awaitAdmission(exchange: Exchange, admission: Promise<void>): void {
    exchange.admission = admission
    const admitted = () => {
      exchange.admission = undefined
    }
    admission.then(admitted, (error) => fail(exchange, error))
  }

  function receive(exchange: Exchange, route: Route, id: string): void {
    const { request } = exchange
    if (route.takesBody) {
      const isWhole = request.complete
      const done = (body: unknown) => {
        if (isWhole) perform(exchange, route, id, body)
        else performReadmitted(exchange, route, id, body)
      }
      readBody(request, done, (error) => fail(exchange, error))
      if (exchange.askForBody !== undefined && hasBody(request)) {
        const { askForBody } = exchange
        exchange.askForBody = undefined
        askForBody()
      }
    } else if (route.scope !== null && hasBody(request)) throw uncalledFor()
    else {
      if (route.scope === null) lingerOver(request)
      perform(exchange, route, id, undefined)
    }
  }

  async function performReadmitted(exchange: Exchange, route: Route, id: string, body: unknown): Promise<void> {
    try {
      await authenticator.readmit(exchange)
      perform(exchange, route, id, body)
    } catch (error) {
      fail(exchange, error)
    }
  }

  function perform(exchange: Exchange, route: Route, id: string, body: unknown): void {
    const answer = route.answer(exchange, id, body)
    if (answer instanceof Promise)
      answer.then(
        (awaited) => finish(exchange, awaited),
        (error) => fail(exchange, error),
      )
    else finish(exchange, answer)
  }

  function finish(exchange: Exchange, answer: Answer): void {
    if (exchange.admission === undefined) finished.add({ exchange, answer })
    else exchange.admission.then(() => finished.add({ exchange, answer })).catch(() => {})
  }

  function fail(exchange: Exchange, error: unknown): void {
    if (exchange.admission === undefined) failAdmitted(exchange, error)
    // A caller who is not admitted learns that, and not what else was wrong.
    else
      exchange.admission.then(
        () => failAdmitted(exchange, error),
        (refusal) => failAdmitted(exchange, refusal),
      )
  }

  function writeHead({ exchange, answer: { type, content } }: Finished): boolean {
    // The client broke its body off, and has been told so.
    if (exchange.isBroken) return false
    exchange.isLast ||= !server.listening
    try {
      exchange.writeHead(200, type, content)
      return true
    } catch (error) {
      fail(exchange, error)
      return false
    }
  }

  function failAdmitted(exchange: Exchange, error: unknown): void {
    // The client broke its body off behind an answer, or has been told so.
    if (exchange.response.headersSent || exchange.isBroken) return
    exchange.isLast ||= !server.listening
    const status = answerFailure(exchange, error, log)
    lookAtReader(exchange)
    onAnswered(status, exchange)
  }

  const refuse = ({ error, socket }: Unparsable) => {
    const status = underWay.answerUnparsable(error, socket)
    if (status !== undefined) onAnswered(status)
  }
  // Node finds all of them at once: a thousand, if they came together, and everybody else would wait for them.
  const overdue = new OneByOne<Unparsable>(refuse)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') overdue.add({ error, socket })
    else refuse({ error, socket })
  })
  answerOddRequests(server, underWay, onAnswered)
  // Who has said all there is to say may still wait for the answer; Node would hang up on them. Its types leave this out.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => {
    underWay.open(socket)
    socket.on('end', () => {
      // To Node it is an error to end within a request, but for one that asks for another protocol.
      if (underWay.isCutShort(socket)) refuse({ error: new Error('the request ended early'), socket })
    })
  })
  limitConnections(server, log)
  lingerWhenClosing(server)
  mindAllWhenClosing(server, underWay)
  hangUpOnIdle(server, underWay)
  const lookAtReader = hangUpOnSlowReaders(server)
  return server
}

function requireOneHost({ headers: { host }, httpVersion }: Request): void {
  if (host === undefined && httpVersion === '1.1')
    throw new ServiceError('invalid_request', { message: 'The request has no Host header.' })
  if (host?.includes(','))
    throw new ServiceError('invalid_request', { message: 'The request has more than one Host header.' })
}

/** Refused before it is read, whatever it holds. */
function uncalledFor(): ServiceError {
  return new ServiceError('invalid_request', { message: 'This request takes no body; send it without one.' })
}
