import type { ApiToken, Caller, NewApiToken } from '../api-tokens/api-token.ts'
import type { DataSource, DataSourceChange, NewDataSource } from '../data-sources/data-source.ts'
import type { ServiceError } from '../errors.ts'
import type { AuditEvent, EventKind } from '../events/event.ts'
import type { DataSchema } from '../schemas/data-schema.ts'
import type { Soon } from '../soon.ts'
import type { Team, TeamChange } from '../teams/team.ts'
import type { Sealed } from '../tokens/key-ring.ts'
import type { Place, SealedToken, SealPurpose, TokenKey } from '../tokens/tokens.ts'
import type {
  ImportedUserGroup,
  NewUserGroup,
  UserGroup,
  UserGroupChange,
  UserGroupRecord,
  Verified,
} from '../user-groups/user-group.ts'
import type { DatabaseStats, Version } from './database.ts'

export interface Store {
  readonly teams: Teams
  readonly keys: KeyStore
  /** The one look-up that crosses teams: it tells which team a caller belongs to. */
  findCaller(apiTokenHash: Uint8Array): Soon<Caller | undefined>
  /** Notes when an API token was used. */
  noteUse(apiTokenId: number, now: number): Promise<void>
  /**
   * All else is bound to a team: no method below takes a team id, so none can forget it. `by` is the API token that acts,
   * for the audit trail; null for a command at the terminal. Nothing is written before `admission`, and nothing at all
   * when it fails.
   */
  forTeam(teamId: number, by: AuditEvent['by'], admission?: Promise<void>): TeamStore
  /** Forgets one batch of events, and of tokens long rotated, from before a time; returns how many they were. */
  pruneHistory(before: number, batch: number): Promise<number>
  /** From when on every process of this database finds a token by where it leads. */
  leadsFrom(): Promise<number>
  /** As that of a database: another as soon as any process has committed anything that nobody was told of. */
  version(): Soon<Version | undefined>
  stats(): DatabaseStats
  close(): Promise<void>
}

export interface TeamStore {
  readonly userGroups: UserGroups
  readonly schemas: Schemas
  readonly dataSources: DataSources
  readonly apiTokens: ApiTokens
  readonly events: Events
  readonly settings: TeamSettings
}

export interface UserGroups {
  find(providedId: string): Promise<UserGroup | undefined>
  /** The one decision about races: the row that was there first wins, and everybody gets it. */
  getOrCreate(make: () => NewUserGroup, now: number): Promise<{ group: UserGroup; created: boolean }>
  /** Exactly one of those who replace the same token wins; the others fail with `token_already_rotated`. */
  replaceToken(current: TokenKey, replacement: TokenReplacement, now: number): Promise<UserGroup>
  verify(token: TokenKey): Promise<Verified | undefined>
  get(providedId: string): Promise<UserGroupRecord | undefined>
  /** In the order they were made, from behind `after`; `prefix` begins the id or the name, whatever its ASCII case. */
  list(query: ListQuery): Promise<Page<UserGroupRecord>>
  update(providedId: string, change: UserGroupChange, now: number): Promise<UserGroupRecord | undefined>
  /** False when there was none. */
  delete(providedId: string, now: number): Promise<boolean>
  /** Get-or-create for many: all in one commit, and each decided as if it had come alone, the first of an id first. */
  importBatch(wishes: readonly ImportWish[], now: number): Promise<ImportOutcome[]>
  count(): Promise<number>
  /** As `list`, and the only way to many tokens at once: for an operator's export. */
  listWithTokens(query: PageQuery<number>): Promise<Page<UserGroupWithToken>>
}

export interface ImportWish {
  providedId: string
  /** The token it brings along. A group that is there with another one is a refusal: the customer's would not work. */
  brought: TokenKey | undefined
  /** Called when there is no such group, and again when the id it made is taken. */
  make(): ImportedUserGroup
}

/** An error says why one was refused; nothing of it is stored. */
export type ImportOutcome = 'created' | 'already_there' | ServiceError

/** The token still sealed. */
export interface UserGroupWithToken extends UserGroupRecord {
  id: number
  token: Sealed
}

export interface TokenReplacement {
  /** Called with the group's id once it is known: a seal is bound to it. */
  seal(groupId: number): SealedToken
  /** How long the old token still verifies; with 0 all earlier ones end too. */
  graceSeconds: number
}

export interface ListQuery extends PageQuery<number> {
  prefix?: string
}

export interface PageQuery<Place> {
  /** Where the page before ended. */
  after: Place
  limit: number
}

export interface Page<Item, Place = number> {
  items: Item[]
  /** Where the next page begins; null at the end. */
  next: Place | null
}

/** The place of something in a list of what was made, newest last. */
export interface Age {
  createdAt: number
  id: string
}

export interface Schemas {
  /** Fails with `conflict` when the id is taken. */
  add(schema: Omit<DataSchema, 'createdAt'>, now: number): Promise<DataSchema>
  list(query: PageQuery<Age>): Promise<Page<DataSchema, Age>>
  get(id: string): Promise<DataSchema | undefined>
  /** Fails with `conflict` while data sources belong to it. */
  delete(id: string, now: number): Promise<boolean>
}

export interface DataSources {
  add(source: NewDataSource, now: number): Promise<DataSource>
  list(query: PageQuery<Age>): Promise<Page<DataSource, Age>>
  get(id: string): Promise<DataSource | undefined>
  update(id: string, change: DataSourceChange, now: number): Promise<DataSource | undefined>
  /** Fails with `conflict` while mappings use it. */
  delete(id: string, now: number): Promise<boolean>
}

export interface ApiTokens {
  /** False when the hash is known already. */
  add(token: NewApiToken, now: number): Promise<boolean>
  /** Those that are not revoked. */
  list(query: PageQuery<number>): Promise<Page<ApiToken>>
  /** Those revoked too. */
  all(): Promise<ApiToken[]>
  /** Undefined when the team has no such token, or it was revoked before. */
  revoke(id: number, now: number, lastAdmin: 'keep' | 'may_go'): Promise<ApiToken | undefined>
}

export interface Events {
  /** A page may hold fewer than there are, even none: it is the last one only where `next` is null. */
  list(query: EventQuery): Promise<Page<AuditEvent>>
  /** The number of the newest; 0 when there is none. */
  newest(): Promise<number>
}

export interface EventQuery extends Partial<PageQuery<number>> {
  limit: number
  /** By default the oldest come first. */
  order?: 'asc' | 'desc'
  /** By the id it had then, or was given. */
  userGroup?: string
  kind?: EventKind
  apiTokenId?: number
}

export interface TeamSettings {
  get(): Promise<Team>
  update(change: TeamChange, now: number): Promise<Team>
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

export interface SealedRow extends Place {
  sealed: Sealed
}

export interface Resealed extends SealedRow {
  fresh: Sealed
}

/** For re-sealing under a new master key: a walk over the rows of all teams, in the order of their ids. */
export interface KeyStore {
  /** Shows `decide` what is there and adds what it answers with; nobody else changes the table meanwhile. */
  register(decide: (known: ReadonlyMap<string, Uint8Array>) => Sealed | undefined, now: number): Promise<void>
  /** The look-up key as it is sealed under each master key in use. */
  all(): Promise<ReadonlyMap<string, Uint8Array>>
  countSealedByOthers(keyId: string): Promise<number>
  sealedByOthers(purpose: SealPurpose, keyId: string, after: number | string, limit: number): Promise<SealedRow[]>
  /** Leaves a value alone that was changed in the meantime. */
  reseal(rows: readonly Resealed[]): Promise<number>
  /** Forgets the master keys, other than this one, that seal nothing any more; returns their ids. */
  retireOthers(keyId: string): Promise<string[]>
}
