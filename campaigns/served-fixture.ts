import assert from 'node:assert/strict'
import type { Caller } from '../test/support/caller.ts'
import { restoreDump } from '../test/support/plain-dump.ts'
import type { Premises } from '../test/support/premises.ts'
import { rawSql } from '../test/support/raw-database.ts'
import { assertConsistent } from './consistency.ts'
import type { Exchange, Fixture } from './fixture.ts'
import { tokensOf } from './opened-tokens.ts'

/** Starts the present service on the database of an earlier one: it must know all of it, and go on with it. */
export async function assertServed(premises: Premises, { version, dump, record }: Fixture): Promise<void> {
  // Whenever this runs, nothing of it is too old to be kept.
  const forever = { UGS_EVENT_RETENTION_DAYS: '0' }
  const settings = { ...forever, UGS_MASTER_KEY: record.masterKey, UGS_API_TOKEN: record.apiTokens[0] }
  const environment = { ...premises.environment, ...settings }
  await restoreDump(environment, dump)
  const service = await premises.start(settings)
  const callers = record.apiTokens.map((apiToken) => premises.call(service, apiToken))
  for (const exchange of record.exchanges) await assertAnsweredAsThen(callers, exchange, version)

  for (const { id, token } of record.groups) {
    const { status, body } = await service.caller.rotate(token)
    assert.equal(
      status,
      200,
      `the token of ${id}, written at version ${version}, cannot be rotated: ${JSON.stringify(body)}`,
    )
  }
  const { body } = await service.caller.call('GET', `/api/events?after=${record.lastEvent}&limit=200`)
  assert.deepEqual(
    body.events.map((event: { id: number; kind: string }) => [event.id, event.kind]),
    record.groups.map((_, index) => [record.lastEvent + index + 1, 'user_group.token_rotated']),
  )
  await assertConsistent(environment)
  await assertConnectionsOpen(environment)
}

async function assertAnsweredAsThen(
  callers: readonly Caller[],
  { caller, method, path, json, status, body }: Exchange,
  version: number,
): Promise<void> {
  const by = callers[caller]
  assert.ok(by)
  const answer = await by.call(method, path, json === undefined ? {} : { json })
  const message = `${method} ${path} ${JSON.stringify(json ?? '')} is not answered as at version ${version}: ${JSON.stringify(answer.body)}`
  assert.equal(answer.status, status, message)
  assert.partialDeepStrictEqual(answer.body, body, message)
}

async function assertConnectionsOpen(environment: Premises['environment']): Promise<void> {
  const tokens = await tokensOf(environment)
  const sources = await rawSql(environment, 'select * from data_source')
  assert.ok(sources.length > 0)
  for (const { id, team_id, connection_key, connection_sealed } of sources) {
    const sealed = { keyId: String(connection_key), bytes: connection_sealed as Uint8Array }
    const place = { purpose: 'data_source.connection', teamId: Number(team_id), id: String(id) } as const
    assert.ok(JSON.parse(tokens.open(sealed, place).toString()))
  }
}
