import { copyOf } from './body.ts'
import { type Call, type CallOptions, creation, deletion, repeatable, revocation } from './call.ts'
import { type Connection, connect, type Settings } from './connection.ts'
import { pages } from './pages.ts'
import { refuseUnlessObject } from './prepare.ts'
import { renaming } from './rename.ts'
import { type RotateOptions, rotate } from './rotate.ts'
import { send } from './send.ts'
import type * as wire from './types.ts'
import { isVerification, type Verification } from './verification.ts'

/** One method for each operation of the service. Each gives the answer as it came, and fails with a UserGroupServiceError. */
export class UserGroupService {
  readonly #connection: Connection

  constructor(settings: Settings) {
    this.#connection = connect(settings)
  }

  /**
   * Looks up a user group, or creates it. An existing one is not changed. After a lost answer, new_user_group is false
   * for one that it created itself.
   */
  async getOrCreate(request: wire.GetOrCreateRequest, options?: CallOptions): Promise<wire.UserGroupGetOrCreateAnswer> {
    return this.#send({ ...finding(request), advice: repeatable }, options)
  }

  /** Replaces the token of a user group. Pass its provided_id too, and a lost answer is recovered. */
  async rotate(currentToken: string, options: RotateOptions = {}): Promise<wire.UserGroupRotateTokenAnswer> {
    // An id in their place would be no id, and a lost answer not recovered.
    refuseUnlessObject(options, 'options')
    const { signal } = options
    const lookUp = {
      record: (id: string) => this.getUserGroup(id, { signal }),
      group: (id: string) => this.#send(finding({ user_group_id: id }), { signal }),
    }
    return rotate(this.#connection, lookUp, currentToken, options)
  }

  /** Tells whose user group token this is, and what it opens. */
  verify(token: string, options?: CallOptions): Promise<Verification> {
    return this.#send({ method: 'POST', path: '/api/verify', body: { token }, isAnswer: isVerification }, options)
  }

  /** One page of the user groups, oldest first, without their tokens. */
  listUserGroups(query?: wire.UserGroupListQuery, options?: CallOptions): Promise<wire.UserGroupListAnswer> {
    return this.#send({ method: 'GET', path: '/api/user_groups', query }, options)
  }

  /** All user groups, or those whose id or name begins with q. */
  userGroups({ cursor, ...query }: wire.UserGroupListQuery = {}, { signal }: CallOptions = {}) {
    return pages(cursor, async (next) => {
      const page = await this.listUserGroups({ limit: 200, ...query, cursor: next }, { signal })
      return { items: page.user_groups, next: page.next_cursor }
    })
  }

  /** One user group, without its token. */
  getUserGroup(providedId: string, options?: CallOptions): Promise<wire.UserGroupGetAnswer> {
    return this.#send(
      {
        method: 'GET',
        path: '/api/user_groups',
        id: providedId,
        isAnswer: ({ user_group }) => user_group?.provided_id === providedId,
      },
      options,
    )
  }

  /** Changes a user group: only what is given. A new provided_id keeps the token; a disabled group does not verify. */
  async updateUserGroup(
    providedId: string,
    change: wire.UserGroupPatch,
    { signal }: CallOptions = {},
  ): Promise<wire.UserGroupUpdateAnswer> {
    const body = copyOf(change)
    const call = {
      method: 'PATCH',
      path: '/api/user_groups',
      id: providedId,
      body,
      advice: repeatable,
      isAnswer: ({ user_group }: wire.UserGroupUpdateAnswer) =>
        user_group?.provided_id === (body.provided_id ?? providedId),
    } as const
    const read = (id: string) => this.getUserGroup(id, { signal })
    return this.#send(await renaming(call, read, ({ user_group }) => user_group), { signal })
  }

  /** Deletes a user group with its tokens, old ones too. */
  async deleteUserGroup(providedId: string, { signal }: CallOptions = {}): Promise<wire.UserGroupDeleteAnswer> {
    return this.#send(
      deletion('/api/user_groups', providedId, () => this.getUserGroup(providedId, { signal })),
      { signal },
    )
  }

  /** Creates a schema; its id is yours to choose, or made. */
  createSchema(request: wire.SchemaRequest, options?: CallOptions): Promise<wire.SchemaCreateAnswer> {
    return this.#send(creation('/api/schemas', request, 'listSchemas'), options)
  }

  /** One page of the schemas of the team, oldest first. */
  listSchemas(query?: wire.SchemaListQuery, options?: CallOptions): Promise<wire.SchemaListAnswer> {
    return this.#send({ method: 'GET', path: '/api/schemas', query }, options)
  }

  /** All schemas of the team, oldest first. */
  schemas({ cursor, ...query }: wire.SchemaListQuery = {}, { signal }: CallOptions = {}) {
    return pages(cursor, async (next) => {
      const page = await this.listSchemas({ limit: 200, ...query, cursor: next }, { signal })
      return { items: page.schemas, next: page.next_cursor }
    })
  }

  getSchema(id: string, options?: CallOptions): Promise<wire.SchemaGetAnswer> {
    return this.#send({ method: 'GET', path: '/api/schemas', id, isAnswer: ({ schema }) => schema?.id === id }, options)
  }

  /** Deletes a schema that no data source belongs to. */
  async deleteSchema(id: string, { signal }: CallOptions = {}): Promise<wire.SchemaDeleteAnswer> {
    return this.#send(
      deletion('/api/schemas', id, () => this.getSchema(id, { signal })),
      { signal },
    )
  }

  /** Creates a data source; its connection is stored sealed and never returned. */
  createDataSource(request: wire.DataSourceRequest, options?: CallOptions): Promise<wire.DataSourceCreateAnswer> {
    return this.#send(creation('/api/data_sources', request, 'listDataSources'), options)
  }

  /** One page of the data sources of the team, oldest first, without their connections. */
  listDataSources(query?: wire.DataSourceListQuery, options?: CallOptions): Promise<wire.DataSourceListAnswer> {
    return this.#send({ method: 'GET', path: '/api/data_sources', query }, options)
  }

  /** All data sources of the team, oldest first. */
  dataSources({ cursor, ...query }: wire.DataSourceListQuery = {}, { signal }: CallOptions = {}) {
    return pages(cursor, async (next) => {
      const page = await this.listDataSources({ limit: 200, ...query, cursor: next }, { signal })
      return { items: page.data_sources, next: page.next_cursor }
    })
  }

  /** One data source by its id or its provided_id, without its connection. */
  getDataSource(id: string, options?: CallOptions): Promise<wire.DataSourceGetAnswer> {
    return this.#send(
      { method: 'GET', path: '/api/data_sources', id, isAnswer: ({ data_source }) => isCalled(id, data_source) },
      options,
    )
  }

  /** Changes a data source, found by its id or its provided_id: only what is given. */
  async updateDataSource(
    id: string,
    change: wire.DataSourcePatch,
    { signal }: CallOptions = {},
  ): Promise<wire.DataSourceUpdateAnswer> {
    const body = copyOf(change)
    const call = {
      method: 'PATCH',
      path: '/api/data_sources',
      id,
      body,
      advice: repeatable,
      isAnswer: ({ data_source }: wire.DataSourceUpdateAnswer) =>
        isCalled(id, data_source) || isCalled(body.provided_id, data_source),
    } as const
    const read = (name: string) => this.getDataSource(name, { signal })
    return this.#send(await renaming(call, read, ({ data_source }) => data_source), { signal })
  }

  /** Deletes a data source that no user group is mapped to, by its id or its provided_id. */
  async deleteDataSource(id: string, { signal }: CallOptions = {}): Promise<wire.DataSourceDeleteAnswer> {
    return this.#send(
      deletion('/api/data_sources', id, () => this.getDataSource(id, { signal })),
      { signal },
    )
  }

  /** The only answer that holds the API token's secret. */
  createApiToken(request: wire.ApiTokenRequest, options?: CallOptions): Promise<wire.ApiTokenCreateAnswer> {
    return this.#send(creation('/api/api_tokens', request, 'listApiTokens'), options)
  }

  /** One page of the API tokens of the team that are not revoked, oldest first, without their secrets. */
  listApiTokens(query?: wire.ApiTokenListQuery, options?: CallOptions): Promise<wire.ApiTokenListAnswer> {
    return this.#send({ method: 'GET', path: '/api/api_tokens', query }, options)
  }

  /** All API tokens of the team that are not revoked, oldest first. */
  apiTokens({ cursor, ...query }: wire.ApiTokenListQuery = {}, { signal }: CallOptions = {}) {
    return pages(cursor, async (next) => {
      const page = await this.listApiTokens({ limit: 200, ...query, cursor: next }, { signal })
      return { items: page.api_tokens, next: page.next_cursor }
    })
  }

  /** Revokes an API token, be it the one of this client; the last one with the scope admin stays. */
  async revokeApiToken(id: number, options?: CallOptions): Promise<wire.ApiTokenRevokeAnswer> {
    return this.#send(revocation('/api/api_tokens', id), options)
  }

  getTeam(options?: CallOptions): Promise<wire.TeamGetAnswer> {
    return this.#send({ method: 'GET', path: '/api/team' }, options)
  }

  /** Changes the settings of the team: only what is given. */
  updateTeam(change: wire.TeamPatch, options?: CallOptions): Promise<wire.TeamUpdateAnswer> {
    return this.#send({ method: 'PATCH', path: '/api/team', body: change, advice: repeatable }, options)
  }

  /** One page of the audit trail: who did what to which thing, when. A page of a search may be empty. */
  listEvents(query?: wire.EventListQuery, options?: CallOptions): Promise<wire.EventListAnswer> {
    return this.#send({ method: 'GET', path: '/api/events', query }, options)
  }

  /** The audit trail behind an event, or what is searched for in it, up to its end as it is then. */
  events({ after, ...query }: wire.EventListQuery = {}, { signal }: CallOptions = {}) {
    return pages(after?.toString(), async (next) => {
      const page = await this.listEvents({ limit: 200, ...query, after: next }, { signal })
      return { items: page.events, next: page.next_cursor }
    })
  }

  /** The process is alive. */
  healthz(options?: CallOptions): Promise<wire.HealthAliveAnswer> {
    return this.#ask({ method: 'GET', path: '/healthz' }, options)
  }

  /** The process is alive and its database answers. */
  readyz(options?: CallOptions): Promise<wire.HealthReadyAnswer> {
    return this.#ask({ method: 'GET', path: '/readyz' }, options)
  }

  async #send<Answer>(call: Call<Answer>, options: CallOptions | undefined): Promise<Answer> {
    return send(this.#connection, call, options)
  }

  /** Once: whoever asks how the service is wants to know how it is now. */
  async #ask<Answer>(call: Call<Answer>, options: CallOptions | undefined): Promise<Answer> {
    return send({ ...this.#connection, retries: 0 }, call, options)
  }
}

/** The twin of GET /api/user: fetch cannot send a body with a GET. */
function finding(request: wire.GetOrCreateRequest): Call<wire.UserGroupGetOrCreateAnswer> {
  const body = copyOf(request)
  const isAnswer = ({ user_group }: wire.UserGroupGetOrCreateAnswer) => user_group?.provided_id === body.user_group_id
  return { method: 'POST', path: '/api/user_groups', body, isAnswer }
}

function isCalled(name: string | undefined, source: wire.DataSource | undefined): boolean {
  return name !== undefined && (source?.id === name || source?.provided_id === name)
}
