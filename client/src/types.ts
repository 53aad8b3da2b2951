// Made from the operations of the service by "npm run generate"; do not change it here.

/** Every code the service answers a failed call with. */
export type ErrorCode =
  | 'invalid_json'
  | 'missing_body'
  | 'invalid_request'
  | 'unknown_data_source'
  | 'unauthenticated'
  | 'invalid_api_token'
  | 'insufficient_scope'
  | 'not_found'
  | 'user_group_not_found'
  | 'token_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'token_already_rotated'
  | 'conflict'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal'
  | 'unavailable'

export interface GetOrCreateRequest {
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  user_group_id: string
  /** A string of 1 to 255 characters without control characters or lone surrogates; without one, the name is the user_group_id. */
  name?: string | undefined
  /** An object of at most 200 entries, each from a schema id of 1 to 255 characters to the id or provided_id of a data source. */
  mapping?: Readonly<Record<string, string>> | undefined
  /** A JSON object of at most 64 KiB and 32 levels, without numbers that would lose digits: send those as strings. */
  properties?: object | undefined
}

export interface RotateRequest {
  /** A string: the current token of the user group, which this call replaces; to look a group up, use GET /api/user or POST /api/user_groups. */
  current_token: string
  /** A whole number of seconds from 0 to 604800, for which the old token still verifies; by default 0, which ends all earlier tokens at once. */
  grace_seconds?: number | undefined
}

export interface UserGroupPatch {
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  provided_id?: string | undefined
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  name?: string | undefined
  /** An object of at most 200 entries, each from a schema id of 1 to 255 characters to the id or provided_id of a data source. */
  mapping?: Readonly<Record<string, string>> | undefined
  /** A JSON object of at most 64 KiB and 32 levels, without numbers that would lose digits: send those as strings. */
  properties?: object | undefined
  /** True or false. */
  disabled?: boolean | undefined
}

export interface SchemaRequest {
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  id?: string | undefined
  /** A string of 1 to 255 characters without control characters or lone surrogates; without one, the name is the id. */
  name?: string | undefined
}

export interface DataSourceRequest {
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  schema_id: string
  /** A string of 1 to 255 characters without control characters or lone surrogates, not beginning with ds_. */
  provided_id?: string | undefined
  /** A string of 1 to 255 characters without control characters or lone surrogates; without one, the name is the provided_id, or else the id. */
  name?: string | undefined
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  kind?: string | undefined
  /** A JSON object of at most 64 KiB and 32 levels; it is stored sealed and never returned. */
  connection?: object | undefined
}

export interface DataSourcePatch {
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  schema_id?: string | undefined
  /** A string of 1 to 255 characters without control characters or lone surrogates, not beginning with ds_. */
  provided_id?: string | undefined
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  name?: string | undefined
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  kind?: string | undefined
  /** A JSON object of at most 64 KiB and 32 levels; it is stored sealed and never returned. */
  connection?: object | undefined
}

export interface ApiTokenRequest {
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  name: string
  /** An array of one or more of provision, verify, admin, each once. */
  scopes: readonly ('provision' | 'verify' | 'admin')[]
  /** A time in the future, such as "2099-12-31T23:59:59Z", or null. */
  expires_at?: string | null | undefined
}

export interface TeamPatch {
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  name?: string | undefined
  /** True or false: whether a mapping to a data source that the team does not have is refused; its schema is not checked. */
  strict_mapping?: boolean | undefined
}

export interface UserGroup {
  team_id: number
  token: string
  name: string
  provided_id: string
}

export interface ResolvedDataSource {
  id: string
  provided_id: string | null
  name: string
}

export interface UserGroupRecord {
  team_id: number
  name: string
  provided_id: string
  /** An object of at most 200 entries, each from a schema id of 1 to 255 characters to the id or provided_id of a data source. */
  mapping: Record<string, string>
  /** A JSON object of at most 64 KiB and 32 levels, without numbers that would lose digits: send those as strings. */
  properties: Record<string, unknown>
  disabled: boolean
  created_at: string
  updated_at: string
  token_rotated_at: string | null
}

export interface Schema {
  id: string
  name: string
  created_at: string
}

export interface DataSource {
  id: string
  provided_id: string | null
  schema_id: string
  name: string
  kind: string | null
  created_at: string
  updated_at: string
}

export interface FreshApiToken {
  id: number
  name: string
  scopes: ('provision' | 'verify' | 'admin')[]
  expires_at: string | null
  created_at: string
  last_used_at: string | null
  token: string
}

export interface ApiToken {
  id: number
  name: string
  scopes: ('provision' | 'verify' | 'admin')[]
  expires_at: string | null
  created_at: string
  last_used_at: string | null
}

export interface Team {
  id: number
  name: string
  /** Whether a mapping to a data source that the team does not have is refused; its schema is not checked. */
  strict_mapping: boolean
}

export interface AuditEvent {
  /** Counts up by one within the team. */
  id: number
  /** When it happened. */
  at: string
  /** What was done to what: user_group.created, user_group.updated, user_group.token_rotated, user_group.deleted, schema.created, schema.deleted, data_source.created, data_source.updated, data_source.deleted, api_token.created, api_token.revoked, team.updated. */
  kind:
    | 'user_group.created'
    | 'user_group.updated'
    | 'user_group.token_rotated'
    | 'user_group.deleted'
    | 'schema.created'
    | 'schema.deleted'
    | 'data_source.created'
    | 'data_source.updated'
    | 'data_source.deleted'
    | 'api_token.created'
    | 'api_token.revoked'
    | 'team.updated'
  /** The API token that did it, by its name then; null for a command at the terminal. */
  api_token: string | null
  /** The user group it was done to, by its id then. */
  user_group?: string | undefined
  /** The schema it was done to, by its id. */
  schema?: string | undefined
  /** The data source it was done to, by its id. */
  data_source?: string | undefined
  /** The API token it was done to, by its id. */
  api_token_id?: number | undefined
  /** The new id of the user group, or the new provided_id of the data source, where it got another. */
  renamed_to?: string | undefined
  /** The API token that did it, by its id; older events lack it. */
  by_api_token_id?: number | undefined
  /** What a change set, whether it was different before or not. */
  fields?: string[] | undefined
  /** Of a user group that was disabled, made so, or enabled again. */
  disabled?: boolean | undefined
  /** Of a rotation: how long the old token stayed valid, if it did. */
  grace_seconds?: number | undefined
  /** What it was set to, where the team changed it. */
  strict_mapping?: boolean | undefined
  /** The name of the schema, data source or API token. */
  name?: string | undefined
  /** Of a data source that has one; the former one, where it got another. */
  provided_id?: string | undefined
  /** Of an API token. */
  scopes?: string[] | undefined
}

/** Look up a user group, or create it. An existing one is not changed. */
export interface UserGroupGetOrCreateAnswer {
  success: 1
  new_user_group: boolean
  user_group: UserGroup
}

/** Replace the token of a user group. The old one ends at once, or after grace_seconds. */
export interface UserGroupRotateTokenAnswer {
  success: 1
  user_group: UserGroup
}

/** Tell whose user group token this is, and which data sources and properties it opens. */
export interface TokenVerifyRequest {
  /** A string: the user group token to verify. */
  token: string
}

/** Tell whose user group token this is, and which data sources and properties it opens. */
export interface TokenVerifyAnswer {
  success: 1
  active: boolean
  /** Why not, where active is false: unknown, rotated, disabled. */
  reason?: 'unknown' | 'rotated' | 'disabled' | undefined
  user_group?:
    | {
        team_id: number
        name: string
        provided_id: string
      }
    | undefined
  /** The mapping of the user group, resolved: the data source of each schema id. */
  data_sources?: Record<string, ResolvedDataSource> | undefined
  /** The schema ids whose data source is not there, if any. */
  unresolved?: string[] | undefined
  /** A JSON object of at most 64 KiB and 32 levels, without numbers that would lose digits: send those as strings. */
  properties?: Record<string, unknown> | undefined
  /** For an old token in its grace, when that ends; null for the current one. */
  expires_at?: string | null | undefined
}

/** List the user groups, oldest first, without their tokens. */
export interface UserGroupListQuery {
  /** A whole number from 1 to 200, by default 100. */
  limit?: string | number | undefined
  /** A next_cursor of this list. */
  cursor?: string | null | undefined
  /** A string of 1 to 255 characters without control characters or lone surrogates. */
  q?: string | undefined
}

/** List the user groups, oldest first, without their tokens. */
export interface UserGroupListAnswer {
  success: 1
  user_groups: UserGroupRecord[]
  next_cursor: string | null
}

/** Show one user group, without its token. */
export interface UserGroupGetAnswer {
  success: 1
  user_group: UserGroupRecord
}

/** Change those fields of a user group that are sent. */
export interface UserGroupUpdateAnswer {
  success: 1
  user_group: UserGroupRecord
}

/** Delete a user group and its tokens, former ones too. */
export interface UserGroupDeleteAnswer {
  success: 1
}

/** Create a schema, with an id of your choice or a made one. */
export interface SchemaCreateAnswer {
  success: 1
  schema: Schema
}

/** List the schemas of the team, oldest first. */
export interface SchemaListQuery {
  /** A whole number from 1 to 200, by default 100. */
  limit?: string | number | undefined
  /** A next_cursor of this list. */
  cursor?: string | null | undefined
}

/** List the schemas of the team, oldest first. */
export interface SchemaListAnswer {
  success: 1
  schemas: Schema[]
  next_cursor: string | null
}

/** Show one schema. */
export interface SchemaGetAnswer {
  success: 1
  schema: Schema
}

/** Delete a schema that no data source belongs to. */
export interface SchemaDeleteAnswer {
  success: 1
}

/** Create a data source. Its connection is stored sealed and never returned. */
export interface DataSourceCreateAnswer {
  success: 1
  data_source: DataSource
}

/** List the data sources of the team, oldest first, without their connections. */
export interface DataSourceListQuery {
  /** A whole number from 1 to 200, by default 100. */
  limit?: string | number | undefined
  /** A next_cursor of this list. */
  cursor?: string | null | undefined
}

/** List the data sources of the team, oldest first, without their connections. */
export interface DataSourceListAnswer {
  success: 1
  data_sources: DataSource[]
  next_cursor: string | null
}

/** Show one data source, found by its id or its provided_id, without its connection. */
export interface DataSourceGetAnswer {
  success: 1
  data_source: DataSource
}

/** Change those fields of a data source that are sent. */
export interface DataSourceUpdateAnswer {
  success: 1
  data_source: DataSource
}

/** Delete a data source that no user group is mapped to. */
export interface DataSourceDeleteAnswer {
  success: 1
}

/** Create an API token of the team. Its secret is in this answer and in no other. */
export interface ApiTokenCreateAnswer {
  success: 1
  api_token: FreshApiToken
}

/** List the API tokens of the team that are not revoked, oldest first, without their secrets. */
export interface ApiTokenListQuery {
  /** A whole number from 1 to 200, by default 100. */
  limit?: string | number | undefined
  /** A next_cursor of this list. */
  cursor?: string | null | undefined
}

/** List the API tokens of the team that are not revoked, oldest first, without their secrets. */
export interface ApiTokenListAnswer {
  success: 1
  api_tokens: ApiToken[]
  next_cursor: string | null
}

/** Revoke an API token, even that of this call, but not the last one with the scope admin. */
export interface ApiTokenRevokeAnswer {
  success: 1
}

/** Show the team and its settings. */
export interface TeamGetAnswer {
  success: 1
  team: Team
}

/** Change those settings of the team that are sent. */
export interface TeamUpdateAnswer {
  success: 1
  team: Team
}

/** Read the audit trail: who did what, to what, and when. It holds no secret. */
export interface EventListQuery {
  /** The id of an event, or a next_cursor of this list. */
  after?: string | number | null | undefined
  /** A whole number from 1 to 200, by default 100. */
  limit?: string | number | undefined
  /** Asc, or desc for the newest first. */
  order?: 'asc' | 'desc' | undefined
  /** The id of a user group, then or since that event: 1 to 255 characters. */
  user_group?: string | undefined
  /** One of user_group.created, user_group.updated, user_group.token_rotated, user_group.deleted, schema.created, schema.deleted, data_source.created, data_source.updated, data_source.deleted, api_token.created, api_token.revoked, team.updated. */
  kind?:
    | 'user_group.created'
    | 'user_group.updated'
    | 'user_group.token_rotated'
    | 'user_group.deleted'
    | 'schema.created'
    | 'schema.deleted'
    | 'data_source.created'
    | 'data_source.updated'
    | 'data_source.deleted'
    | 'api_token.created'
    | 'api_token.revoked'
    | 'team.updated'
    | undefined
  /** The id of an API token, to find what it did. */
  by_api_token_id?: string | number | undefined
}

/** Read the audit trail: who did what, to what, and when. It holds no secret. */
export interface EventListAnswer {
  success: 1
  events: AuditEvent[]
  next_cursor: string | null
}

/** The process is alive. */
export interface HealthAliveAnswer {
  success: 1
}

/** The database answers, and the keys open what it holds. */
export interface HealthReadyAnswer {
  success: 1
}
