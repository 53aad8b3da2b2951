import assert from 'node:assert/strict'
import { readConfig } from '../src/config.ts'
import { OperatorError } from '../src/operator-error.ts'
import { openService } from '../src/service.ts'
import type { Caller } from '../test/support/caller.ts'
import { runCommand } from '../test/support/command.ts'
import { rawSql } from '../test/support/raw-database.ts'
import { assertRefusal } from '../test/support/refusal.ts'
import type { Environment } from '../test/support/service-process.ts'
import { teamOn } from '../test/support/store.ts'
import { times } from '../test/support/times.ts'
import { imported } from './imported-groups.ts'

interface Victim {
  id: number
  providedId: string
  token: string
  sealed: Buffer
}

interface Attack {
  how: 'changed' | 'moved'
  victim: Victim
  planted: Buffer
}

/** Writes changed and moved values past the service, and asks for them. Returns how many it tried. */
export async function attackTokens(caller: Caller, environment: Environment, most: number): Promise<number> {
  const attacks = attacksOn(await someVictims(environment, most), await sealsFromElsewhere(environment))
  const plant = (bytesFor: (attack: Attack) => Buffer) =>
    storeBytes(
      environment,
      'user_group',
      'token_sealed',
      attacks.map((attack) => [attack.victim.id, bytesFor(attack)]),
    )
  await plant(({ planted }) => planted)
  await Promise.all(attacks.map((attack) => assertShut(caller, attack)))
  await plant(({ victim }) => victim.sealed)
  await Promise.all(attacks.map(({ victim }) => assertOpen(caller, victim)))
  return attacks.length
}

async function someVictims(environment: Environment, most: number): Promise<Victim[]> {
  const rows = await rawSql(
    environment,
    `select id, provided_id, token_sealed from user_group
    where team_id = 1 and provided_id like 'imported 1%' order by id limit ${most}`,
  )
  return rows.flatMap(({ id, provided_id, token_sealed }) => {
    const index = imported.indexOf(String(provided_id))
    if (index === undefined || imported.isBusy(index)) return []
    const sealed = Buffer.from(token_sealed as Uint8Array)
    return [{ id: Number(id), providedId: imported.id(index), token: imported.token(index), sealed }]
  })
}

/** Of another team, of another column, and of the keys. */
async function sealsFromElsewhere(environment: Environment): Promise<Buffer[]> {
  const service = await openService(readConfig(environment))
  const other = await service.store.teams.create('Another team', Date.now())
  await teamOn(service, other.id, null).make('theirs')
  await service.store.close()
  const found = await rawSql(
    environment,
    `select token_sealed as sealed from user_group where team_id = ${other.id}
    union all select connection_sealed from data_source union all select lookup_key from master_key`,
  )
  return found.map(({ sealed }) => Buffer.from(sealed as Uint8Array))
}

/** Bits of a sealed token, and whatever else could be put in its place, each on a group of its own. */
function attacksOn([first, second, ...victims]: readonly Victim[], elsewhere: readonly Buffer[]): Attack[] {
  assert.ok(first && second)
  const moves = [first.sealed, second.sealed, ...elsewhere]
  const changes = [
    (sealed: Buffer) => sealed.subarray(0, -1),
    (sealed: Buffer) => sealed.subarray(1),
    (sealed: Buffer) => Buffer.concat([sealed, Buffer.alloc(1)]),
    () => Buffer.alloc(0),
  ]
  const bits = first.sealed.length * 8
  const stride = Math.max(1, bits / (victims.length - moves.length - changes.length))
  for (let bit = 0; bit < bits; bit += stride)
    changes.push((sealed) => withFlippedBit(sealed, Math.floor(bit) % (sealed.length * 8)))
  return victims.slice(0, moves.length + changes.length).map((victim, at) => {
    const moved = moves[at]
    if (moved) return { how: 'moved', victim, planted: moved }
    const change = changes[at - moves.length]
    assert.ok(change)
    return { how: 'changed', victim, planted: change(victim.sealed) }
  })
}

function withFlippedBit(bytes: Buffer, bit: number): Buffer {
  const changed: Buffer = Buffer.from(bytes)
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return changed
}

/** The look-up fails, with nobody's token. The token itself is found by its hash, and still says whose it is. */
async function assertShut(caller: Caller, { how, victim }: Attack): Promise<void> {
  const { status, body } = await caller.getOrCreate(victim.providedId)
  assert.notEqual(status, 200, `the seal of ${victim.providedId} opened although it was ${how}`)
  assert.deepEqual([status, body.error?.code, body.user_group], [500, 'internal', undefined])
  if (how === 'changed') return
  const verified = await caller.verify(victim.token)
  assert.equal(verified.body.user_group?.provided_id, victim.providedId, JSON.stringify(verified.body))
}

async function assertOpen(caller: Caller, { providedId, token }: Victim): Promise<void> {
  const { body } = await caller.getOrCreate(providedId)
  assert.equal(body.user_group?.token, token, `${providedId} opens again: ${JSON.stringify(body)}`)
}

/** Without its look-up key no process opens the database. */
export async function attackLookupKey(environment: Environment): Promise<number> {
  const [key] = await rawSql(environment, 'select id, lookup_key as sealed from master_key')
  const [elsewhere] = await rawSql(environment, 'select token_sealed as sealed from user_group order by id limit 1')
  const sealed = Buffer.from(key?.sealed as Uint8Array)
  const store = (bytes: Buffer) => storeBytes(environment, 'master_key', 'lookup_key', [[String(key?.id), bytes]])
  const planted = [
    ...times(sealed.length, (byte) => withFlippedBit(sealed, byte * 8 + (byte % 8))),
    Buffer.from(elsewhere?.sealed as Uint8Array),
  ]
  for (const bytes of planted) {
    await store(bytes)
    await assert.rejects(
      openService(readConfig(environment)),
      (error) => error instanceof OperatorError && /does not open what is stored/.test(error.message),
    )
  }
  await store(sealed)
  return planted.length
}

/** How the re-sealing refuses it: what is wrong, and what to do. */
export const connectionDoesNotOpen = [/connection of data source .* does not open/, /backup/] as const

interface Connection {
  id: string
  sealed: Buffer
}

/** Flips a bit of a connection, which nobody but its re-sealing opens; tells what it was. */
export async function spoilConnection(environment: Environment): Promise<Connection> {
  const [first] = await rawSql(environment, 'select id, connection_sealed as sealed from data_source order by id')
  const connection = { id: String(first?.id), sealed: Buffer.from(first?.sealed as Uint8Array) }
  await storeConnection(environment, connection.id, withFlippedBit(connection.sealed, 0))
  return connection
}

/** Nobody is ever shown a connection: only its re-sealing opens it. That must stop there, and keep the key. */
export async function attackConnection(
  environment: Environment,
  { id, sealed }: Connection,
  attempts: number,
  random: () => number,
): Promise<number> {
  const [, two] = await rawSql(environment, 'select id, connection_sealed as sealed from data_source order by id')
  const [group] = await rawSql(environment, 'select token_sealed as sealed from user_group order by id limit 1')
  const keys = await rawSql(environment, 'select id from master_key order by id')
  const planted: Buffer[] = [two?.sealed, group?.sealed].map((bytes) => Buffer.from(bytes as Uint8Array))
  planted.push(...times(8, () => withFlippedBit(sealed, Math.floor(random() * sealed.length * 8))))
  const from = Math.floor(random() * planted.length)
  for (let attempt = 0; attempt < attempts; attempt++) {
    await storeConnection(environment, id, planted[(from + attempt) % planted.length] ?? sealed)
    const ended = await runCommand(environment, 'keys', 'rotate')
    assert.notEqual(ended.code, 0, 'the seal of a connection opened although it was moved or changed')
    assertRefusal(ended, ...connectionDoesNotOpen)
  }
  await storeConnection(environment, id, sealed)
  assert.deepEqual(await rawSql(environment, 'select id from master_key order by id'), keys, 'no key was retired')
  return attempts
}

function storeConnection(environment: Environment, id: string, bytes: Buffer): Promise<void> {
  return storeBytes(environment, 'data_source', 'connection_sealed', [[id, bytes]])
}

async function storeBytes(
  environment: Environment,
  table: string,
  column: string,
  values: readonly (readonly [id: number | string, bytes: Buffer])[],
): Promise<void> {
  const isSqlite = environment.DATABASE_URL?.startsWith('sqlite:')
  const literal = (bytes: Buffer) => (isSqlite ? `x'${bytes.toString('hex')}'` : `'\\x${bytes.toString('hex')}'::bytea`)
  const rows = values.map(([id, bytes]) => `(${typeof id === 'number' ? id : `'${id}'`}, ${literal(bytes)})`)
  await rawSql(
    environment,
    `with changed (id, bytes) as (values ${rows.join(', ')})
    update ${table} set ${column} = (select bytes from changed where changed.id = ${table}.id)
    where id in (select id from changed)`,
  )
}
