import { isoTime, isoTimeOrNull } from '../clock.ts'
import type { DataSource } from '../data-sources/data-source.ts'
import type { Sealed } from '../tokens/key-ring.ts'
import type { SealedToken } from '../tokens/tokens.ts'

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
  /** Null for the current token; for a former one, the end of its grace, which may be past, or 0 without one. */
  validUntil: number | null
  /** Those of the mapping that exist, by their place in it. */
  dataSources: ReadonlyMap<string, DataSource>
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
