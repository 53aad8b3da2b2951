export interface Settings {
  /** Where the service is: `https://groups.example.com`, with a path if it has one. */
  baseUrl: string | undefined
  /** Both are checked at once, so that they may come as they are from process.env. */
  apiToken: string | undefined
  /** For each attempt, until the whole answer is here; 10000 unless you say so. */
  timeoutMs?: number | undefined
  /** How often a call is repeated at most, where repeating is safe; 3 unless you say so. */
  retries?: number | undefined
  /** Instead of the run time's own. */
  fetch?: Fetch | undefined
}

/** As much of fetch as is used, so that undici's own fits too. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>

export interface FetchInit {
  method: string
  headers: Record<string, string>
  redirect: 'manual'
  /** Ends the request, and the reading of its answer. */
  signal: AbortSignal
  body?: string
  /** For a connection of its own, where Bun would send it twice on one that was there. */
  keepalive?: false
}

export interface FetchAnswer {
  status: number
  headers: { get(name: string): string | null }
  text(): Promise<string>
}

/** The settings, checked once. */
export interface Connection {
  baseUrl: string
  authorization: string
  timeoutMs: number
  retries: number
  fetch: Fetch
}

const longestTimeout = 2 ** 31 - 1

/** Looked up at each call, so that what replaces it for a while is seen; some run times mind its "this". */
const globalFetch: Fetch = (url, init) => globalThis.fetch(url, init)

/** Complaints name the setting and never its value: it may be the token, or a URL with a password in it. */
export function connect({ baseUrl, apiToken, timeoutMs = 10_000, retries = 3, fetch }: Settings): Connection {
  if (typeof apiToken !== 'string' || !/^[\x21-\x7e]+$/.test(apiToken))
    throw new TypeError('apiToken must be an API token of the service: visible ASCII characters without spaces.')
  if (!(timeoutMs > 0 && timeoutMs <= longestTimeout))
    throw new TypeError(`timeoutMs must be a number of milliseconds above 0, at most ${longestTimeout}.`)
  if (!Number.isInteger(retries) || retries < 0) throw new TypeError('retries must be a whole number from 0 up.')
  // Every call would fail as if the connection had broken, and leave open whether it was done.
  if (typeof (fetch ?? globalFetch) !== 'function') throw new TypeError('fetch must be a function.')
  return {
    baseUrl: checkedUrl(baseUrl),
    authorization: `Token ${apiToken}`,
    timeoutMs,
    retries,
    fetch: fetch ?? globalFetch,
  }
}

function checkedUrl(baseUrl = ''): string {
  const url = parsed(baseUrl)
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === ''
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new TypeError('baseUrl must be an http or https URL without a user, a query and a fragment.')
  // Not href, which keeps a bare "?" or "#" at its end.
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

function parsed(url: string): URL | undefined {
  try {
    return new URL(url)
  } catch {
    return undefined
  }
}
