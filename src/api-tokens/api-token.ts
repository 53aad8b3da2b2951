import { isoTime, isoTimeOrNull } from '../clock.ts'

/** `provision` looks up, creates and rotates; `verify` asks whose token it is; `admin` may do all this and the rest. */
export const scopes = ['provision', 'verify', 'admin'] as const
export type Scope = (typeof scopes)[number]

export interface NewApiToken {
  id: number
  name: string
  scopes: readonly Scope[]
  hash: Uint8Array
  expiresAt: number | null
}

export interface ApiToken {
  id: number
  name: string
  scopes: readonly Scope[]
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  lastUsedAt: number | null
}

/** Who is behind a request: one API token of one team. */
export interface Caller extends ApiToken {
  teamId: number
}

export function isUsable(token: ApiToken, now: number): boolean {
  return token.revokedAt === null && (token.expiresAt === null || token.expiresAt > now)
}

export function allows(token: ApiToken, needed: Scope): boolean {
  return token.scopes.includes(needed) || token.scopes.includes('admin')
}

export function state(token: ApiToken, now: number): 'active' | 'expired' | 'revoked' {
  if (token.revokedAt !== null) return 'revoked'
  return isUsable(token, now) ? 'active' : 'expired'
}

/** How exact `lastUsedAt` is. A note is a commit, after which every process on SQLite reads again what it remembered. */
const noteUseEvery = 600_000

export function isUseNoted({ lastUsedAt }: ApiToken, now: number): boolean {
  return lastUsedAt !== null && now - lastUsedAt < noteUseEvery
}

export function presentApiToken(token: ApiToken) {
  return {
    id: token.id,
    name: token.name,
    scopes: [...token.scopes],
    expires_at: isoTimeOrNull(token.expiresAt),
    created_at: isoTime(token.createdAt),
    last_used_at: isoTimeOrNull(token.lastUsedAt),
  }
}
