import { randomUUID } from 'node:crypto'
import { groupId, groupToken, numbered, numberMark } from './names.ts'
import { Stock } from './stock.ts'

/** What a load asks for. `spread` is how many of the groups are asked for over and over. */
export interface Workload {
  name: string
  operation: 'lookup' | 'verify' | 'create' | 'rotate' | 'mix' | 'fixed'
  spread: number
  apiToken: string
  /** Which of the groups in a database that was filled are rotated; of one that was not, no answer is known beforehand. */
  rotating?: { from: number; to: number }
  /** Whether each request has a connection of its own, as those of many back ends have. */
  ownConnection?: boolean
  /** What a peer is asked, when the operation is `fixed`; `numberMark` in it stands for the number of a group. */
  fixed?: string
}

interface Asked {
  text: string
  isRight(body: string): boolean
}

/** Of all loads that this process sends: what one has rotated, the next rotates on. */
let stock: Stock | undefined

export function requestsOf(workload: Workload): () => Asked {
  const { operation, spread, apiToken, rotating, fixed = '' } = workload
  stock ??= new Stock(rotating)
  const rotatable = stock
  const draw = () => Math.floor(Math.random() * spread)
  const holding = (text: string) => (body: string) => rotating === undefined || body.includes(text)
  const isFound = holding('"new_user_group":false')
  const isActive = holding('"active":true')
  const isNew = holding('"new_user_group":true')
  const isFresh = (body: string, former?: string) => {
    const token = /"token":"([^"]+)"/.exec(body)?.[1]
    if (token === undefined || token === former) return false
    rotatable.give(token)
    return true
  }
  const lookup = () => ({ text: lookUp(draw(), workload), isRight: isFound })
  const verify = () => ({ text: verification(draw(), workload), isRight: isActive })
  const create = () => {
    const text = format('GET', '/api/user', apiToken, { user_group_id: `new-${randomUUID()}` })
    return { text, isRight: rotating ? isNew : isFresh }
  }
  const rotate = () => {
    const token = rotatable.take()
    // Only where nothing was filled in: what is to be rotated must be created then.
    if (token === undefined) return create()
    const text = format('POST', '/api/user', apiToken, { current_token: token })
    return { text, isRight: (body: string) => isFresh(body, token) }
  }
  const mix = () => {
    const kind = Math.random()
    return kind < 0.05 ? rotate() : kind < 0.1 ? create() : kind < 0.55 ? lookup() : verify()
  }
  const asPeersDo = () => ({ text: fixed.replace(numberMark, () => numbered(draw())), isRight: () => true })
  return { lookup, verify, create, rotate, mix, fixed: asPeersDo }[operation]
}

export function lookUp(index: number, { apiToken, ownConnection }: Workload): string {
  const text = format('GET', '/api/user', apiToken, { user_group_id: groupId(index) })
  return ownConnection ? text.replace('\r\n', '\r\nConnection: close\r\n') : text
}

export function verification(index: number, { apiToken }: Workload): string {
  return format('POST', '/api/verify', apiToken, { token: groupToken(index) })
}

export function format(method: string, path: string, apiToken: string, body: object, scheme = 'Token'): string {
  const text = JSON.stringify(body)
  return (
    `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${scheme} ${apiToken}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  )
}
