/** What a load asks for. `spread` is how many of the groups are asked for over and over. */
export interface Workload {
  name: string
  operation: 'lookup' | 'verify' | 'create' | 'rotate' | 'mix' | 'fixed'
  spread: number
  apiToken: string
  /** Whether each request has a connection of its own, as those of many back ends have. */
  ownConnection?: boolean
  /** What a peer is asked, when the operation is `fixed`; `numberMark` in it stands for the number of a group. */
  fixed?: string
}

export const numberMark = '00000000'

const numbered = (index: number) => String(index).padStart(numberMark.length, '0')
export const groupId = (index: number) => `bench-group-${numbered(index)}`
export const groupToken = (index: number) => `bench-token-of-group-${numbered(index)}`

/** The next request of one connection; `answered` is the body of its last answer. */
export type NextRequest = (answered: string | undefined) => string

let created = 0

/** Each connection rotates the token of a group of its own, so that every rotation has a current token to send. */
export function requestsOf(workload: Workload, connection: number): NextRequest {
  const { operation, spread, apiToken } = workload
  const draw = () => Math.floor(Math.random() * spread)
  const lookup = () => lookUp(draw(), workload)
  const verify = () => format('POST', '/api/verify', apiToken, { token: groupToken(draw()) })
  const create = () => format('GET', '/api/user', apiToken, { user_group_id: `new-${process.pid}-${created++}` })
  let token: string | undefined
  const own = `rotating-${process.pid}-${connection}`
  const rotate: NextRequest = (answered) => {
    token = /"token":"([^"]+)"/.exec(answered ?? '')?.[1] ?? token
    if (token === undefined) return format('GET', '/api/user', apiToken, { user_group_id: own })
    return format('POST', '/api/user', apiToken, { current_token: token })
  }
  const { fixed = '' } = workload
  if (operation === 'fixed') return () => fixed.replace(numberMark, () => numbered(draw()))
  if (operation === 'lookup') return lookup
  if (operation === 'verify') return verify
  if (operation === 'create') return create
  if (operation === 'rotate') return rotate
  const last = { rotated: false }
  return (answered) => {
    const kind = Math.random()
    const fromRotation = last.rotated ? answered : undefined
    last.rotated = kind < 0.05
    if (kind < 0.05) return rotate(fromRotation)
    if (fromRotation) token = /"token":"([^"]+)"/.exec(fromRotation)?.[1] ?? token
    return kind < 0.1 ? create() : Math.random() < 0.5 ? lookup() : verify()
  }
}

export function lookUp(index: number, { apiToken, ownConnection }: Workload): string {
  const text = format('GET', '/api/user', apiToken, { user_group_id: groupId(index) })
  return ownConnection ? text.replace('\r\n', '\r\nConnection: close\r\n') : text
}

export function format(method: string, path: string, apiToken: string, body: object, scheme = 'Token'): string {
  const text = JSON.stringify(body)
  return (
    `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${scheme} ${apiToken}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  )
}
