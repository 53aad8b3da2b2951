import { invalid } from '../errors.ts'
import { fieldPath, InexactNumber } from '../json.ts'
import type { Sealed, SealedToken } from '../tokens/tokens.ts'

/** What the two operations of the contract answer with, the token still sealed. */
export interface UserGroup {
  id: number
  teamId: number
  providedId: string
  name: string
  token: Sealed
}

export interface NewUserGroup {
  id: number
  providedId: string
  name: string
  /** JSON texts, as they are stored. */
  mapping: string
  properties: string
  token: SealedToken
}

export const propertiesLimit = { bytes: 64 * 1024, levels: 32 }

/** The JSON text of properties that will come back exactly as they came in. */
export function propertiesJson(properties: object): string {
  refuseUnkeepable(properties, ['properties'])
  const text = JSON.stringify(properties)
  if (Buffer.byteLength(text) > propertiesLimit.bytes) throw invalid('properties', 'must be at most 64 KiB as JSON')
  return text
}

function refuseUnkeepable(value: unknown, path: string[]): void {
  if (value instanceof InexactNumber) {
    const number = value.source.length > 40 ? `${value.source.slice(0, 40)}…` : value.source
    throw invalid(fieldPath(path), `would lose digits as a number (${number}); send it as a string`)
  }
  if (typeof value !== 'object' || value === null) return
  if (path.length > propertiesLimit.levels) throw invalid('properties', 'must be at most 32 levels deep')
  for (const [key, inner] of Object.entries(value)) refuseUnkeepable(inner, [...path, key])
}

/** A user group as the contract shows it: these four keys and no other. */
export function present(group: UserGroup, token: string) {
  return { team_id: group.teamId, token, name: group.name, provided_id: group.providedId }
}
