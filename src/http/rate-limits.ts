const minute = 60_000
const mostAddresses = 100_000

/** Counts failed authentications by address, in windows of a minute. */
export class AuthFailures {
  readonly #limit: number
  #counts = new Map<string, number>()
  #windowEnds = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Seconds to wait, or 0 while the address is within its limit. */
  count(address: string, now: number): number {
    if (now >= this.#windowEnds || this.#windowEnds - now > minute) {
      this.#counts.clear()
      this.#windowEnds = now + minute
    }
    const failures = (this.#counts.get(address) ?? 0) + 1
    // A flood from ever new addresses must not fill the memory; those already known stay counted.
    if (failures > 1 || this.#counts.size < mostAddresses) this.#counts.set(address, failures)
    return failures > this.#limit ? Math.ceil((this.#windowEnds - now) / 1000) : 0
  }
}

interface Bucket {
  tokens: number
  at: number
}

interface Rate {
  headers: Record<string, string>
  /** Seconds to wait, or 0 when the request may go on. */
  retryAfter: number
}

/** A token bucket for each API token: refilled at the limit, holding twice that. */
export class RequestRates {
  readonly #perSecond: number
  readonly #burst: number
  readonly #policy: string
  readonly #buckets = new Map<number, Bucket>()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#burst = perSecond * 2
    this.#policy = `"default";q=${this.#burst};w=2`
  }

  take(apiTokenId: number, now: number): Rate {
    const bucket = this.#buckets.get(apiTokenId) ?? { tokens: this.#burst, at: now }
    // A clock that jumps back refills nothing and takes nothing.
    const elapsed = Math.max(0, now - bucket.at) / 1000
    const tokens = Math.min(this.#burst, bucket.tokens + elapsed * this.#perSecond)
    const left = tokens >= 1 ? tokens - 1 : tokens
    this.#buckets.set(apiTokenId, { tokens: left, at: now })
    const untilOne = Math.ceil(Math.max(0, 1 - left) / this.#perSecond)
    return {
      headers: { 'RateLimit-Policy': this.#policy, RateLimit: `"default";r=${Math.floor(left)};t=${untilOne}` },
      retryAfter: tokens >= 1 ? 0 : untilOne,
    }
  }
}
