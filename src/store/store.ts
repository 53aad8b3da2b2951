import type { ApiToken, Caller, NewApiToken } from '../api-tokens/api-token.ts'
import type { Team } from '../teams/team.ts'
import type { Sealed, SealedToken, TokenOwner } from '../tokens/tokens.ts'
import type { NewUserGroup, UserGroup } from '../user-groups/user-group.ts'
import type { DatabaseStats } from './database.ts'

export interface Store {
  readonly engine: 'sqlite' | 'postgres'
  readonly teams: Teams
  /** The one look-up that crosses teams: it tells which team a caller belongs to. */
  findCaller(apiTokenHash: Uint8Array): Promise<Caller | undefined>
  /** All else is bound to a team: no method below takes a team id, so none can forget it. */
  forTeam(teamId: number): TeamStore
  readonly keys: KeyStore
  stats(): DatabaseStats
  close(): Promise<void>
}

export interface TeamStore {
  readonly userGroups: UserGroups
  readonly apiTokens: ApiTokens
}

export interface UserGroups {
  find(providedId: string): Promise<UserGroup | undefined>
  /** The one decision about races: the row that was there first wins, and everybody gets it. */
  getOrCreate(make: () => NewUserGroup, now: number): Promise<{ group: UserGroup; created: boolean }>
  /** Exactly one of those who replace the same token wins; the others fail with `token_already_rotated`. */
  replaceToken(current: Uint8Array, replacement: TokenReplacement, now: number): Promise<UserGroup>
}

export interface TokenReplacement {
  /** Called with the row's owner once it is known: a seal is bound to it. */
  seal(owner: TokenOwner): SealedToken
  /** How long the old token still verifies; with 0 all earlier ones end too. */
  graceSeconds: number
}

export interface ApiTokens {
  /** False when the hash is known already. */
  add(token: NewApiToken, now: number): Promise<boolean>
  list(): Promise<ApiToken[]>
  /** Undefined when the team has no such token; revoking twice keeps the first time. */
  revoke(id: number, now: number): Promise<ApiToken | undefined>
}

export interface Teams {
  create(name: string, now: number): Promise<Team>
  list(): Promise<Team[]>
  find(id: number): Promise<Team | undefined>
  /** The team every installation starts with, made when there is none, and its API token. */
  prepareFirst(token: NewApiToken, when: 'always' | 'if_none', now: number): Promise<FirstTeam>
}

export interface FirstTeam {
  team: Team
  /** What became of the API token: a revoked one stays revoked. */
  token: 'added' | 'kept' | 'revoked'
}

export interface SealedRow {
  owner: TokenOwner
  hash: Uint8Array
  sealed: Sealed
}

/** For re-sealing under a new master key: a walk over the rows of all teams, in the order of their ids. */
export interface KeyStore {
  /** Shows `decide` what is there and adds what it answers with; nobody else changes the table meanwhile. */
  register(decide: (known: ReadonlyMap<string, Uint8Array>) => Sealed | undefined, now: number): Promise<void>
  /** The look-up key as it is sealed under each master key in use. */
  all(): Promise<ReadonlyMap<string, Uint8Array>>
  countSealedByOthers(keyId: string): Promise<number>
  sealedByOthers(keyId: string, afterGroupId: number, limit: number): Promise<SealedRow[]>
  /** Leaves a token alone that was rotated in the meantime. */
  reseal(rows: readonly SealedRow[]): Promise<number>
  /** Forgets the master keys, other than this one, that seal nothing any more; returns their ids. */
  retireOthers(keyId: string): Promise<string[]>
}
