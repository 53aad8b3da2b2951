import { isoTime, isoTimeOrNull } from '../clock.ts'
import type { DataSource } from '../data-sources/data-source.ts'
import { invalid } from '../errors.ts'
import { fieldPath, inexactNumber } from '../json.ts'
import type { Sealed, SealedToken } from '../tokens/tokens.ts'

export type Mapping = Record<string, string>
export type Properties = Record<string, unknown>

/** What the two operations of the contract answer with, the token still sealed. */
export interface UserGroup {
  id: number
  teamId: number
  providedId: string
  name: string
  token: Sealed
}

/** All of a user group but its token. */
export interface UserGroupRecord {
  teamId: number
  providedId: string
  name: string
  mapping: Mapping
  properties: Properties
  disabled: boolean
  createdAt: number
  updatedAt: number
  tokenRotatedAt: number | null
}

export interface NewUserGroup {
  id: number
  providedId: string
  name: string
  mapping: Mapping
  /** The JSON text, as it is stored. */
  properties: string
  token: SealedToken
}

/** One that comes from elsewhere, as it was there. */
export interface ImportedUserGroup extends NewUserGroup {
  disabled: boolean
}

/** Only what is there changes. */
export interface UserGroupChange {
  providedId?: string
  name?: string
  mapping?: Mapping
  properties?: string
  disabled?: boolean
}

/** Whose token it was, and what it opens. */
export interface Verified {
  group: Pick<UserGroupRecord, 'teamId' | 'providedId' | 'name' | 'mapping' | 'properties' | 'disabled'>
  /** Null for the current token; for a former one, the end of its grace, which may be past. */
  validUntil: number | null
  /** Those of the mapping that exist, by their place in it. */
  dataSources: ReadonlyMap<string, DataSource>
}

export const propertiesLimit = { bytes: 64 * 1024, levels: 32 }

/** The JSON text of an object that will come back exactly as it came in. `field` names it: "properties". */
export function keepableJson(object: object, field: string): string {
  refuseUnkeepable(object, [field])
  const text = JSON.stringify(object)
  if (Buffer.byteLength(text) > propertiesLimit.bytes) throw invalid(field, 'must be at most 64 KiB as JSON')
  return text
}

function refuseUnkeepable(value: unknown, path: string[]): void {
  if (typeof value !== 'object' || value === null) return
  const number = inexactNumber(value)
  if (number !== undefined) {
    const shown = number.length > 40 ? `${number.slice(0, 40)}…` : number
    throw invalid(fieldPath(path), `would lose digits as a number (${shown}); send it as a string`)
  }
  if (path.length > propertiesLimit.levels) throw invalid(path[0] ?? '', 'must be at most 32 levels deep')
  for (const [key, inner] of Object.entries(value)) refuseUnkeepable(inner, [...path, key])
}

/** A user group as the contract shows it: these four keys and no other. */
export function present(group: UserGroup, token: string) {
  return { team_id: group.teamId, token, name: group.name, provided_id: group.providedId }
}

export function presentRecord(group: UserGroupRecord) {
  return {
    team_id: group.teamId,
    name: group.name,
    provided_id: group.providedId,
    mapping: group.mapping,
    properties: group.properties,
    disabled: group.disabled,
    created_at: isoTime(group.createdAt),
    updated_at: isoTime(group.updatedAt),
    token_rotated_at: isoTimeOrNull(group.tokenRotatedAt),
  }
}
