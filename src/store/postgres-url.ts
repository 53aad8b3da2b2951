export interface PostgresServers {
  /** In the order they are to be tried; each as a URL of its own. */
  urls: readonly string[]
  /** Whether only a server that takes writes will do. */
  mustWrite: boolean
}

/** All that the driver heeds in a URL, and what we do: it passes over any other in silence, a misspelled sslmode too. */
export const postgresParameters: readonly string[] = [
  ...['user', 'password', 'host', 'port', 'options', 'application_name', 'fallback_application_name'],
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat', 'client_encoding'],
  ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout', 'replication'],
  'target_session_attrs',
]

/** Reads several servers as libpq does: postgres://USER@HOST1:PORT,HOST2:PORT/DATABASE?target_session_attrs=read-write. */
export function postgresServers(url: string): PostgresServers {
  const [, before = '', named = '', behind = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  // The password has a / or the like in it: what stands before would be taken for the host, looked up, and shown.
  if (/^[^?#]*@|#.*@|^[^?#]*\?(?:[^#]*&)?[^=&#]*@/s.test(behind))
    throw new Error(
      'has an @ behind the host: in a password write %40 for @, %2F for /, %3F for ?, %23 for # and %25 for %',
    )
  const hosts = named.split(',')
  if (hosts.length > 1 && hosts.includes('')) throw new Error('names a host between two commas that is empty')
  const parameters = parametersIn(behind)
  if (parameters.get('host')?.includes(','))
    throw new Error('must name several hosts as HOST1:PORT,HOST2:PORT before the database, not as a parameter')
  const target = parameters.get('target_session_attrs') ?? 'any'
  if (target !== 'any' && target !== 'read-write')
    throw new Error('takes only "read-write" or "any" as target_session_attrs: the service must write')
  return { urls: hosts.map((host) => before + host + behind), mustWrite: target === 'read-write' }
}

/** The names of the parameters; none where it is no URL at all, as the driver says what is wrong with that. */
export function parameterNames(url: string): string[] {
  const [first = ''] = postgresServers(url).urls
  if (!URL.canParse(first.replace('@/', '@host/'))) return []
  return [...parametersIn(first).keys()]
}

function parametersIn(url: string): URLSearchParams {
  return new URLSearchParams(/^[^?#]*\?([^#]*)/.exec(url)?.[1])
}

/**
 * The driver takes these modes for verify-full and warns that its next version will not. They shall stay what they are:
 * libpq's require would talk to anybody who answers in the place of the server.
 */
export function verifyingFully(url: string): string {
  if (/[?&]uselibpqcompat=true(?=&|$)/.test(url)) return url
  return url.replaceAll(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, 'verify-full')
}
