import assert from 'node:assert/strict'
import { readConfig } from '../../src/config.ts'
import { openService } from '../../src/service.ts'
import type { Answer, Caller } from '../support/caller.ts'
import { newTeam } from '../support/new-team.ts'
import type { Environment } from '../support/service-process.ts'

export interface AuditEvent {
  id: number
  at: string
  kind: string
  api_token: string | null
  [subject: string]: unknown
}

type Query = Record<string, string | number>
type Fields = Record<string, unknown>

/** A team as its back ends see it: every operation by a name, with one of the team's API tokens. */
export class Team {
  readonly #caller: Caller
  readonly #apiToken: string | undefined

  constructor(caller: Caller, apiToken?: string) {
    this.#caller = caller
    this.#apiToken = apiToken
  }

  /** The same service, asked with another API token. */
  as(apiToken: string): Team {
    return new Team(this.#caller, apiToken)
  }

  send(method: string, path: string, json?: unknown): Promise<Answer> {
    return this.#caller.call(method, path, {
      ...(json !== undefined && { json }),
      ...(this.#apiToken !== undefined && { headers: { authorization: `Token ${this.#apiToken}` } }),
    })
  }

  getOrCreate(id: string, more: Fields = {}): Promise<Answer> {
    return this.send('POST', '/api/user_groups', { user_group_id: id, ...more })
  }

  /** A new user group, or a failed test. */
  async newGroup(id: string, more: Fields = {}): Promise<{ token: string; team_id: number; name: string }> {
    const made = await this.getOrCreate(id, more)
    assert.equal(made.body.new_user_group, true, JSON.stringify(made.body))
    return made.body.user_group
  }

  rotate(token: string, graceSeconds?: number): Promise<Answer> {
    const grace = graceSeconds === undefined ? {} : { grace_seconds: graceSeconds }
    return this.send('POST', '/api/user', { current_token: token, ...grace })
  }

  /** Rotates, and returns the new token. */
  async rotated(token: string, graceSeconds?: number): Promise<string> {
    const answer = await this.rotate(token, graceSeconds)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.user_group.token
  }

  verify(token: string): Promise<Answer> {
    return this.send('POST', '/api/verify', { token })
  }

  group(id: string): Promise<Answer> {
    return this.send('GET', at('user_groups', id))
  }

  change(id: string, patch: Fields): Promise<Answer> {
    return this.send('PATCH', at('user_groups', id), patch)
  }

  remove(id: string): Promise<Answer> {
    return this.send('DELETE', at('user_groups', id))
  }

  page(query: Query = {}): Promise<Answer> {
    return this.send('GET', withQuery('/api/user_groups', query))
  }

  /** The ids of every page from the first to the last; between two pages `meanwhile` may change what it likes. */
  async pages(query: Query = {}, meanwhile: (page: string[]) => unknown = () => {}): Promise<string[][]> {
    const pages: string[][] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { status, body } = await this.page(cursor === undefined ? query : { ...query, cursor })
      assert.equal(status, 200, JSON.stringify(body))
      pages.push(body.user_groups.map((group: { provided_id: string }) => group.provided_id))
      await meanwhile(pages.at(-1) ?? [])
      cursor = body.next_cursor
    }
    return pages
  }

  makeSchema(schema: Fields): Promise<Answer> {
    return this.send('POST', '/api/schemas', schema)
  }

  makeDataSource(source: Fields): Promise<Answer> {
    return this.send('POST', '/api/data_sources', source)
  }

  makeApiToken(apiToken: Fields): Promise<Answer> {
    return this.send('POST', '/api/api_tokens', apiToken)
  }

  /** The team, asked with a new API token of these scopes. */
  async withScopes(...scopes: string[]): Promise<Team> {
    const { status, body } = await this.makeApiToken({ name: scopes.join(' and '), scopes })
    assert.equal(status, 200, JSON.stringify(body))
    return this.as(body.api_token.token)
  }

  revoke(apiTokenId: number | string): Promise<Answer> {
    return this.send('DELETE', at('api_tokens', String(apiTokenId)))
  }

  events(query: Query = {}): Promise<Answer> {
    return this.send('GET', withQuery('/api/events', query))
  }

  /** Every event behind this one, read page by page. */
  async trail(after = 0): Promise<AuditEvent[]> {
    const { body } = await this.events({ after, limit: 200 })
    return body.events.length < 200 ? body.events : [...body.events, ...(await this.trail(body.events.at(-1).id))]
  }

  /** What a call added to the audit trail. */
  async eventsOf(call: () => Promise<unknown>): Promise<AuditEvent[]> {
    const last = (await this.trail()).at(-1)?.id
    await call()
    return this.trail(last)
  }
}

/** The address of one thing among others of its kind. */
export function at(collection: string, id: string): string {
  return `/api/${collection}/${encodeURIComponent(id)}`
}

export function withQuery(path: string, query: Query): string {
  const parts = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}

/** Another team of the same service, with the API token of an admin. */
export async function anotherTeam(caller: Caller, environment: Environment): Promise<Team> {
  const service = await openService(readConfig(environment), { bringsKey: true })
  try {
    return new Team(caller, (await newTeam(service)).apiToken)
  } finally {
    await service.store.close()
  }
}
