import assert from 'node:assert/strict'
import type { Answer, Caller } from '../test/support/caller.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { Environment } from '../test/support/service-process.ts'

export interface State {
  exists: boolean
  name: string
  /** Undefined where there is none, or nobody was told. */
  token: string | undefined
}

/** Something of a team's that one client alone works with, as it knows it. */
export interface Thing {
  readonly kind: Kind
  readonly id: string
  /** As it was acknowledged. */
  known: State
  /** As it may be instead, when the answer to a change left open whether it was made. */
  possible: State | undefined
  formerToken: string | undefined
  changes: { asked: number; acknowledged: number }
}

interface Kind {
  field: 'user_group' | 'schema' | 'data_source'
  path: string
  body(id: string, name: string): object
  changes: readonly Change[]
}

export interface Change {
  /** What becomes of it. */
  wish(known: State): Partial<State>
  ask(caller: Caller, thing: Thing, wish: State): Promise<Answer>
}

export const create: Change = {
  wish: () => ({ exists: true }),
  ask: (caller, { kind, id }, { name }) => caller.call('POST', kind.path, { json: kind.body(id, name) }),
}
const rename: Change = {
  wish: ({ name }) => ({ name: `${name}+` }),
  ask: (caller, thing, { name }) => caller.call('PATCH', pathOf(thing), { json: { name } }),
}
const rotate: Change = {
  wish: () => ({ token: undefined }),
  ask: (caller, { known }) => caller.rotate(known.token),
}
const remove: Change = {
  wish: () => ({ exists: false }),
  ask: (caller, thing) => caller.call('DELETE', pathOf(thing)),
}

const commonSchema = 'common'
const userGroup: Kind = {
  field: 'user_group',
  path: '/api/user_groups',
  body: (id, name) => ({ user_group_id: id, name }),
  changes: [rotate, rotate, rename, remove],
}
const schema: Kind = { field: 'schema', path: '/api/schemas', body: (id, name) => ({ id, name }), changes: [remove] }
const dataSource: Kind = {
  field: 'data_source',
  path: '/api/data_sources',
  body: (id, name) => ({ provided_id: id, schema_id: commonSchema, name }),
  changes: [rename, remove],
}
const kinds = [userGroup, userGroup, schema, userGroup, dataSource] as const

/** Data sources need a schema. */
export async function prepareForThings(caller: Caller): Promise<void> {
  const { status } = await caller.call('POST', schema.path, { json: schema.body(commonSchema, 'Common') })
  assert.equal(status, 200)
}

export function newThing(number: number): Thing {
  const id = `thing-${number}`
  return {
    kind: kinds[number % kinds.length] ?? userGroup,
    id,
    known: { exists: false, name: id, token: undefined },
    possible: undefined,
    formerToken: undefined,
    changes: { asked: 0, acknowledged: 0 },
  }
}

/** Takes an acknowledgement down, which must say what was asked for. */
export function note(thing: Thing, wish: State, body: Answer['body']): void {
  const told = body[thing.kind.field]
  if (wish.exists) assert.equal(told.name, wish.name, `${thing.id} has lost an acknowledged name`)
  if (!thing.known.exists && thing.kind === userGroup) assert.equal(body.new_user_group, true, `${thing.id} is new`)
  if (told?.token !== undefined && told.token !== thing.known.token) thing.formerToken = thing.known.token
  thing.known = { ...wish, token: told?.token ?? wish.token }
  thing.possible = undefined
  thing.changes.acknowledged += 1
}

/** What was acknowledged is there; what was left open has happened whole, or not at all. */
export async function assertKept(caller: Caller, thing: Thing): Promise<void> {
  const { id, known, possible, formerToken } = thing
  const seen = await observe(caller, thing)
  const isAs = (state: State) =>
    seen.exists === state.exists &&
    (!seen.exists || (seen.name === state.name && [undefined, seen.token].includes(state.token)))
  if (!isAs(known) && !(possible && isAs(possible))) {
    assert.ok(seen.exists || !known.exists, `${id} was acknowledged, and is lost`)
    assert.fail(`${id} should be ${JSON.stringify(known)}, and is ${JSON.stringify(seen)}`)
  }
  const former = seen.token === known.token ? formerToken : known.token
  if (former !== undefined) {
    const { body } = await caller.verify(former)
    assert.equal(body.active, false, `a former token of ${id} is back`)
  }
  thing.known = seen
  thing.possible = undefined
  thing.formerToken = former
}

async function observe(caller: Caller, thing: Thing): Promise<State> {
  const { id, kind, known } = thing
  const { status, body } = await caller.call('GET', pathOf(thing))
  assert.ok(status === 200 || status === 404, `${id}: ${status} ${JSON.stringify(body)}`)
  if (status === 404) return { exists: false, name: known.name, token: undefined }
  const { name } = body[kind.field]
  if (kind !== userGroup) return { exists: true, name, token: undefined }
  return { exists: true, name, token: (await caller.getOrCreate(id)).body.user_group.token }
}

/** Each change of a user group stands in the audit trail once, and none that was not made. */
export async function assertRecorded(database: Environment, things: readonly Thing[]): Promise<void> {
  const rows = await rawSql(database, `select subject, count(*) as count from event group by subject`)
  const recorded = new Map(rows.map(({ subject, count }) => [subject, Number(count)]))
  for (const { kind, id, changes } of things) {
    if (kind !== userGroup) continue
    const count = recorded.get(id) ?? 0
    const { asked, acknowledged } = changes
    assert.ok(
      acknowledged <= count && count <= asked,
      `${id} was changed ${acknowledged} to ${asked} times, and the audit trail has ${count}`,
    )
  }
}

interface Look {
  ask(caller: Caller, thing: Thing): Promise<Answer>
  assertRight(thing: Thing, body: Answer['body']): void
}

const read: Look = {
  ask: (caller, thing) => caller.call('GET', pathOf(thing)),
  assertRight: ({ id, kind, known }, body) =>
    assert.equal(body[kind.field].name, known.name, `${id} has lost an acknowledged name`),
}
const lookUp: Look = {
  ask: (caller, { id }) => caller.getOrCreate(id),
  assertRight: ({ id, known }, body) =>
    assert.equal(body.user_group.token, known.token, `${id} has lost an acknowledged token`),
}
const verify: Look = {
  ask: (caller, { known }) => caller.verify(known.token),
  assertRight: ({ id, known }, body) => {
    const { active, user_group } = body
    assert.ok(active, `${id} has lost an acknowledged token`)
    assert.deepEqual([user_group.provided_id, user_group.name], [id, known.name], `${id} has lost an acknowledged name`)
  },
}

export function looksAt({ kind }: Thing): readonly Look[] {
  return kind === userGroup ? [read, lookUp, verify] : [read]
}

function pathOf({ kind, id }: Thing): string {
  return `${kind.path}/${id}`
}
