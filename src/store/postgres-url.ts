export interface PostgresServers {
  /** In the order they are to be tried; each as a URL of its own. */
  urls: readonly string[]
  /** Whether only a server that takes writes will do. */
  mustWrite: boolean
}

/** Reads several servers as libpq does: postgres://USER@HOST1:PORT,HOST2:PORT/DATABASE?target_session_attrs=read-write. */
export function postgresServers(url: string): PostgresServers {
  const [, before = '', named = '', behind = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  const hosts = named.split(',')
  if (hosts.length > 1 && hosts.includes('')) throw new Error('names a host between two commas that is empty')
  const parameters = new URLSearchParams(behind.slice(behind.indexOf('?') + 1))
  if (parameters.get('host')?.includes(','))
    throw new Error('must name several hosts as HOST1:PORT,HOST2:PORT before the database, not as a parameter')
  const target = parameters.get('target_session_attrs') ?? 'any'
  if (target !== 'any' && target !== 'read-write')
    throw new Error('takes only "read-write" or "any" as target_session_attrs: the service must write')
  return { urls: hosts.map((host) => before + host + behind), mustWrite: target === 'read-write' }
}

/**
 * The driver takes these modes for verify-full and warns that its next version will not. They shall stay what they are:
 * libpq's require would talk to anybody who answers in the place of the server.
 */
export function verifyingFully(url: string): string {
  if (/[?&]uselibpqcompat=true(?=&|$)/.test(url)) return url
  return url.replaceAll(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, 'verify-full')
}
