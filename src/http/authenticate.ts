import { allows, type Caller, isUsable, isUseNoted, type Scope } from '../api-tokens/api-token.ts'
import { ServiceError } from '../errors.ts'
import { quickHash } from '../quick-hash.ts'
import { Recent } from '../recent.ts'
import type { Service } from '../service.ts'
import { after, type Soon } from '../soon.ts'
import type { Exchange } from './exchange.ts'
import { AuthFailures, RequestRates } from './rate-limits.ts'

export interface Limits {
  /** Requests a second for each API token; 0 is off. */
  rateLimit: number
  /** Failed authentications a minute from one address. */
  authFailureLimit: number
}

export interface Authenticator {
  /**
   * Throws, or returns at once when the caller is remembered. Otherwise the caller is admitted when the promise says so;
   * if `exchange.caller` is set before that, it is who the caller was when last seen.
   */
  admit(exchange: Exchange, scope: Scope): Soon<void>
  /** Once a body has come that took its time: the API token may have ended meanwhile. */
  readmit(exchange: Exchange): Soon<void>
}

const challenge = { 'WWW-Authenticate': 'Token' }
const sentTwice =
  'The Authorization header was sent more than once; send one header "Authorization: Token <API_TOKEN>".'
const tooManyFailures =
  'Too many failed authentications from this address; check the API token, then wait as long as the Retry-After header says.'

/** Decides who is calling, before the body is read, with one look-up by the keyed hash of the API token. */
export function authenticator({ store, tokens, memory, clock }: Service, limits: Limits): Authenticator {
  const failures = new AuthFailures(limits.authFailureLimit)
  const rates = limits.rateLimit > 0 ? new RequestRates(limits.rateLimit) : undefined

  const uses = new UseNotes(store)

  const refusal = ({ request }: Exchange, code: 'unauthenticated' | 'invalid_api_token'): ServiceError => {
    const wait = failures.count(request.socket.remoteAddress ?? '', clock.now())
    if (wait > 0)
      return new ServiceError('rate_limited', { message: tooManyFailures, headers: { 'Retry-After': String(wait) } })
    const isTwice = code === 'unauthenticated' && (request.headersDistinct.authorization ?? []).length > 1
    return new ServiceError(code, { headers: challenge, ...(isTwice && { message: sentTwice }) })
  }

  const recognise = (exchange: Exchange, caller: Caller | undefined, now: number): Caller => {
    if (caller === undefined || !isUsable(caller, now)) throw refusal(exchange, 'invalid_api_token')
    exchange.caller = caller
    return caller
  }

  const admitAs = (exchange: Exchange, scope: Scope, found: Caller | undefined): void => {
    const now = clock.now()
    const caller = recognise(exchange, found, now)
    uses.note(caller, now)
    const rate = rates?.take(caller.id, now)
    if (rate) exchange.addHeaders(rate.headers)
    if (rate && rate.retryAfter > 0)
      throw new ServiceError('rate_limited', { headers: { 'Retry-After': String(rate.retryAfter) } })
    if (!allows(caller, scope))
      throw new ServiceError('insufficient_scope', {
        message: `The API token lacks the scope "${scope}" this operation needs.`,
      })
  }

  /** Who it was before, by the header, where nothing tells whether that still holds. */
  const acquainted = new Acquainted()

  return {
    admit(exchange, scope) {
      const header = headerOf(exchange)
      const found = recall(exchange, header)
      if (!(found instanceof Promise)) return admitAs(exchange, scope, found)
      exchange.caller = acquainted.get(header)?.caller ?? null
      return found.then((caller) => admitAs(exchange, scope, caller))
    },
    readmit(exchange) {
      memory.refresh()
      return after(recall(exchange, headerOf(exchange)), (caller) => {
        recognise(exchange, caller, clock.now())
      })
    },
  }

  function recall(exchange: Exchange, header: string): Soon<Caller | undefined> {
    return memory.recall('caller', 0, header, () => find(exchange, header))
  }

  function find(exchange: Exchange, header: string): Soon<Caller | undefined> {
    const hash = acquainted.get(header)?.hash ?? hashIn(header)
    if (hash === 'malformed') throw refusal(exchange, 'unauthenticated')
    return after(hash && store.findCaller(hash), (caller) => {
      acquainted.note(header, hash, caller)
      return caller
    })
  }

  function hashIn(header: string): Uint8Array | undefined | 'malformed' {
    const token = /^token +([\x21-\x7e]+)$/i.exec(header)?.[1]
    return token === undefined ? 'malformed' : tokens.lookupApiToken(token)
  }
}

/** The token in the header, well-formed or not: for those who must not repeat it. */
export function presentedToken(authorization = ''): string {
  return authorization.split(/ +/)[1] ?? ''
}

function headerOf({ request }: Exchange): string {
  return request.headers.authorization ?? ''
}

const acquaintedOfOneAge = 500

interface Acquaintance {
  header: string
  hash: Uint8Array
  caller: Caller
}

/** Callers by the header they came with. That they were admitted once admits them to nothing: see `exchange.admission`. */
class Acquainted {
  readonly #callers = new Recent<Acquaintance>(acquaintedOfOneAge)

  get(header: string): Acquaintance | undefined {
    const found = this.#callers.get(quickHash(header))
    return found?.header === header ? found : undefined
  }

  note(header: string, hash: Uint8Array | undefined, caller: Caller | undefined): void {
    if (caller === undefined || hash === undefined) return
    const known = this.get(header)
    if (known === undefined) this.#callers.offer(quickHash(header), () => ({ header, hash, caller }))
    else known.caller = caller
  }
}

/** Notes when an API token was last used, about every ten minutes, and never in the way of the request that used it. */
class UseNotes {
  readonly #store: Service['store']
  readonly #underWay = new Set<number>()

  constructor(store: Service['store']) {
    this.#store = store
  }

  note(caller: Caller, now: number): void {
    const { id } = caller
    if (isUseNoted(caller, now) || this.#underWay.has(id)) return
    this.#underWay.add(id)
    const done = () => this.#underWay.delete(id)
    // A note that is lost does no harm: the next request makes it.
    this.#store.noteUse(id, now).then(done, done)
  }
}
