import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { NewApiToken } from '../../src/api-tokens/api-token.ts'
import { readConfig } from '../../src/config.ts'
import { newId } from '../../src/ids.ts'
import { openService, type Service } from '../../src/service.ts'
import type { TeamStore } from '../../src/store/store.ts'
import type { TokenKey, Tokens } from '../../src/tokens/tokens.ts'
import type { NewUserGroup, UserGroup } from '../../src/user-groups/user-group.ts'
import type { Engine, FreshDatabase } from './engines.ts'
import { rawSql } from './raw-database.ts'

/** When the tests of the store take place. */
export const noon = Date.UTC(2026, 6, 1, 12)

/** Of lists in the order in which things were made. */
export const firstPage = { after: { createdAt: 0, id: '' }, limit: 200 }

export interface MadeGroup {
  group: UserGroup
  created: boolean
  /** As the caller would see it. */
  token: string
}

/** A team on its own in a database that others share. */
export interface TestTeam extends TeamStore {
  teamId: number
  wish(providedId: string, more?: Partial<NewUserGroup>): NewUserGroup
  /** Gets or creates a group as an operation does. */
  make(providedId: string, more?: Partial<NewUserGroup>, now?: number): Promise<MadeGroup>
  /** Replaces a token as an operation does, and returns the new one. */
  rotate(token: string, graceSeconds?: number, now?: number): Promise<string>
  verify(token: string): ReturnType<TeamStore['userGroups']['verify']>
  /** The kinds of events so far, with what they happened to. */
  trail(): Promise<string[]>
}

export function keyOf(tokens: Tokens, token: string): TokenKey {
  return tokens.lookup(token) ?? assert.fail('it cannot be a token of a user group')
}

/** One that leads to a group that nobody has made. */
export function nobodysToken({ tokens }: Service): string {
  return tokens.mintForUserGroup(1, newId(Date.now()), noon).token
}

export interface StoreOnTest {
  readonly service: Service
  readonly database: FreshDatabase
  newTeam(apiToken?: string): Promise<TestTeam>
  newApiToken(more?: Partial<NewApiToken>): NewApiToken
  sql(statement: string): Promise<Record<string, unknown>[]>
}

/** Call it in a suite: opens the real store on a real, new database before the tests and removes both behind them. */
export function storeOn(engine: Engine): StoreOnTest {
  let database: FreshDatabase
  let service: Service
  before(async () => {
    database = await engine.freshDatabase()
    service = await openService(readConfig(database.environment), { bringsKey: true })
  })
  after(async () => {
    await service.store.close()
    await database.remove()
  })
  return {
    get service() {
      return service
    },
    get database() {
      return database
    },
    async newTeam(apiToken = 'tests') {
      const { id } = await service.store.teams.create('A team', noon)
      return teamOn(service, id, apiToken)
    },
    newApiToken: (more) => ({
      id: newId(Date.now()),
      name: 'An API token',
      scopes: ['provision'],
      hash: service.tokens.hash(service.tokens.mintForApi()),
      expiresAt: null,
      ...more,
    }),
    sql: (statement) => rawSql(database.environment, statement),
  }
}

export function teamOn({ store, tokens }: Service, teamId: number, apiToken: string | null): TestTeam {
  const { userGroups, schemas, dataSources, apiTokens, events, settings } = store.forTeam(
    teamId,
    apiToken === null ? null : { id: 1, name: apiToken },
  )
  const wish = (providedId: string, more: Partial<NewUserGroup> = {}): NewUserGroup => {
    const id = more.id ?? newId(Date.now())
    const token = tokens.mintForUserGroup(teamId, id, noon).sealed
    return { id, providedId, name: providedId, mapping: {}, properties: '{}', token, ...more }
  }
  return {
    ...{ teamId, userGroups, schemas, dataSources, apiTokens, events, settings, wish },
    async make(providedId, more, now = noon) {
      const made = await userGroups.getOrCreate(() => wish(providedId, more), now)
      return { ...made, token: tokens.openToken(made.group) }
    },
    async rotate(token, graceSeconds = 0, now = noon) {
      const seal = (groupId: number) => tokens.mintForUserGroup(teamId, groupId, now).sealed
      return tokens.openToken(await userGroups.replaceToken(keyOf(tokens, token), { seal, graceSeconds }, now))
    },
    verify: (token) => userGroups.verify(keyOf(tokens, token)),
    async trail() {
      const all = (await events.list({ after: 0, limit: 1_000 })).items
      return all.map(({ kind, subject }) => `${kind} ${subject}`)
    },
  }
}
