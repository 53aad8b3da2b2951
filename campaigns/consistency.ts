import assert from 'node:assert/strict'
import { rawSql } from '../test/support/raw-database.ts'
import type { Environment } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'
import { tokensOf } from './opened-tokens.ts'

export interface StoredGroup {
  token: string
  mapping: Record<string, string>
  properties: Record<string, unknown>
}

/** Holds every row of a database against every other one; returns the groups of the first team by their ids. */
export async function assertConsistent(environment: Environment): Promise<Map<string, StoredGroup>> {
  const groups = await openGroups(environment)
  await assertMappings(environment)
  if (environment.DATABASE_URL?.startsWith('sqlite:')) await assertTokensFound(environment)
  await assertEvents(environment)
  return groups
}

/** Every token opens, and is the one that its hash finds. */
async function openGroups(environment: Environment): Promise<Map<string, StoredGroup>> {
  const tokens = await tokensOf(environment)
  const rows = await rawSql(environment, 'select * from user_group where team_id = 1')
  return new Map(
    rows.map((row) => {
      const id = Number(row.id)
      const sealed = { keyId: String(row.token_key), bytes: row.token_sealed as Uint8Array }
      const token = tokens.openToken({ id, teamId: 1, token: sealed })
      const { groupId, hash, longHash } = tokens.lookup(token) ?? assert.fail(`${row.provided_id} has no token`)
      const expected = groupId === id ? hash : longHash()
      const isFound = Buffer.compare(expected, row.token_hash as Uint8Array) === 0
      assert.ok(isFound, `the token of ${row.provided_id} and its hash are not of one moment`)
      const [mapping, properties] = [row.mapping, row.properties].map((text) => JSON.parse(String(text)))
      return [String(row.provided_id), { token, mapping, properties }]
    }),
  )
}

/** On SQLite, the table that finds tokens holds each that there is or was and leads to no group, and nothing else. */
async function assertTokensFound(environment: Environment): Promise<void> {
  const there = `select token_hash, id from user_group where length(token_hash) <> 20
    union all select hash, user_group_id from former_token where length(hash) <> 20 order by 1, 2`
  const [tokens, found] = [
    await rawSql(environment, there),
    await rawSql(environment, 'select * from token order by 1'),
  ]
  assert.deepEqual(
    found.map(Object.values),
    tokens.map(Object.values),
    'the tokens that there are and were are not those that can be found',
  )
}

async function assertMappings(environment: Environment): Promise<void> {
  const entries = await rawSql(environment, 'select user_group_id, data_source from mapping_entry')
  const ofGroup = Map.groupBy(entries, ({ user_group_id }) => String(user_group_id))
  for (const { id, provided_id, mapping } of await rawSql(
    environment,
    'select id, provided_id, mapping from user_group',
  ))
    assert.deepEqual(
      (ofGroup.get(String(id)) ?? []).map(({ data_source }) => data_source).sort(),
      Object.values(JSON.parse(String(mapping))).sort(),
      `the mapping of ${provided_id} and its entries are not of one moment`,
    )
}

/** Numbered without a gap, and as many as there were changes. */
async function assertEvents(environment: Environment): Promise<void> {
  for (const { team_id, last } of await rawSql(environment, 'select team_id, last from event_position')) {
    const events = await rawSql(environment, `select id from event where team_id = ${team_id} order by id`)
    assert.deepEqual(
      events.map(({ id }) => Number(id)),
      times(Number(last), (index) => index + 1),
      `the events of team ${team_id} have a gap`,
    )
  }
  const [counted] = await rawSql(
    environment,
    `select (select count(*) from user_group) as groups,
      (select count(*) from event where kind = 'user_group.created')
        - (select count(*) from event where kind = 'user_group.deleted') as created,
      (select count(*) from former_token) as former,
      (select count(*) from event where kind = 'user_group.token_rotated') as rotated`,
  )
  assert.equal(counted?.groups, counted?.created, 'groups, and events of their creation')
  assert.equal(counted?.former, counted?.rotated, 'former tokens, and events of their rotation')
}
