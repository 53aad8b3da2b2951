import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { openService, type Service } from '../../src/service.ts'
import type { Resealed } from '../../src/store/store.ts'
import { sealPurposes } from '../../src/tokens/tokens.ts'
import { type Engine, engines, newMasterKey } from '../support/engines.ts'
import { noon, storeOn, type TestTeam, teamOn } from '../support/store.ts'
import { times } from '../support/times.ts'

const [, postgres = assert.fail()] = engines

for (const engine of engines)
  describe(`teams in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('begin with the first, which gets the API token once, and keeps it', async () => {
      const { teams, findCaller, forTeam } = on.service.store
      const token = on.newApiToken({ scopes: ['admin'] })
      const firsts = await Promise.all(
        times(10, () => teams.prepareFirst({ ...token, id: on.newApiToken().id }, 'always', noon)),
      )
      assert.deepEqual(firsts.map(({ token }) => token).sort(), ['added', ...times(9, () => 'kept')])
      const team = { id: 1, name: 'First team', strictMapping: false, createdAt: noon }
      assert.deepEqual(
        firsts.map((first) => first.team),
        times(10, () => team),
      )
      assert.deepEqual(await teams.list(), [team])
      assert.equal((await findCaller(token.hash))?.teamId, 1)

      const another = on.newApiToken()
      assert.deepEqual(await teams.prepareFirst(another, 'if_none', noon), { team, token: 'kept' })
      assert.equal(await findCaller(another.hash), undefined)
      assert.equal((await teams.prepareFirst(another, 'always', noon)).token, 'added')

      await forTeam(1, null).apiTokens.revoke(another.id, noon, 'may_go')
      assert.deepEqual(await teams.prepareFirst({ ...another, id: on.newApiToken().id }, 'always', noon), {
        team,
        token: 'revoked',
      })
      assert.equal((await findCaller(another.hash))?.revokedAt, noon)
      assert.equal((await forTeam(1, null).apiTokens.all()).length, 2)
    })

    it('are numbered upwards without a gap, however many are made at once', async () => {
      const { teams } = on.service.store
      const { length } = await teams.list()
      const made = await Promise.all(times(20, (index) => teams.create(`Team ${index}`, noon + index)))
      assert.deepEqual(
        made.map(({ id }) => id).sort((a, b) => a - b),
        times(20, (index) => length + 1 + index),
      )
      for (const team of made) assert.deepEqual(await teams.find(team.id), team)
      assert.deepEqual(
        (await teams.list()).map(({ id }) => id),
        times(length + 20, (index) => index + 1),
      )
      assert.equal(await teams.find(1_000), undefined)
    })

    it('change what is sent of their settings and nothing else', async () => {
      const team = await on.newTeam('ci')
      const before = await team.settings.get()
      assert.deepEqual(await team.settings.update({ strictMapping: true }, noon), { ...before, strictMapping: true })
      const renamed = { ...before, strictMapping: true, name: 'New' }
      assert.deepEqual(await team.settings.update({ name: 'New' }, noon), renamed)
      assert.deepEqual(await team.settings.update({}, noon), renamed)
      assert.deepEqual(await team.settings.get(), renamed)
      assert.deepEqual(await on.service.store.teams.find(team.teamId), renamed)
      assert.deepEqual(
        await team.trail(),
        times(3, () => `team.updated ${team.teamId}`),
      )
      assert.equal((await team.events.list({ after: 0, limit: 1 })).items[0]?.by?.name, 'ci')
    })
  })

/** What two teams sealed under an old master key, opened again with a new one in front. */
async function underTwoKeys(t: TestContext, engine: Engine) {
  const database = await engine.freshDatabase()
  t.after(() => database.remove())
  const [old, fresh] = [newMasterKey(), newMasterKey()]
  const open = async (keys: string) => {
    const service = await openService(readConfig({ ...database.environment, UGS_MASTER_KEY: keys }), {
      bringsKey: true,
    })
    t.after(() => service.store.close())
    return service
  }
  const before = await open(old)
  const teams: TestTeam[] = []
  for (const name of ['One', 'Two']) {
    const team = teamOn(before, (await before.store.teams.create(name, noon)).id, null)
    for (const id of ['a', 'b', 'c']) await team.make(id)
    await team.schemas.add({ id: 'sales', name: 'Sales' }, noon)
    const place = { purpose: 'data_source.connection', teamId: team.teamId, id: `ds_${name}` } as const
    const source = { id: place.id, schemaId: 'sales', name, providedId: null, kind: null }
    await team.dataSources.add(
      { ...source, connection: before.tokens.seal(Buffer.from(`secret ${name}`), place) },
      noon,
    )
    await team.dataSources.add({ ...source, id: `${place.id}_open`, connection: null }, noon)
    teams.push(team)
  }
  const service = await open(`${fresh},${old}`)
  const oldId = before.tokens.newestKeyId
  return { service, teams, oldId, id: service.tokens.newestKeyId, openAfterwards: () => open(fresh) }
}

/** All that is sealed under other keys than the newest, with what it opens to, sealed anew. */
async function resealedRows({ store, tokens }: Service, pageSize = 100): Promise<(Resealed & { plain: string })[]> {
  const rows: (Resealed & { plain: string })[] = []
  for (const purpose of sealPurposes)
    for (let after: number | string = purpose === 'user_group.token' ? 0 : ''; ; ) {
      const page = await store.keys.sealedByOthers(purpose, tokens.newestKeyId, after, pageSize)
      const [last] = page.slice(-1)
      if (last === undefined) break
      assert.ok(page.length <= pageSize)
      after = last.id
      for (const row of page) {
        const plain = tokens.open(row.sealed, row)
        rows.push({ ...row, plain: plain.toString(), fresh: tokens.seal(plain, row) })
      }
    }
  return rows
}

for (const engine of engines)
  describe(`a first team that has no API token in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('gets one, whatever tokens other teams have', async () => {
      const [first, other] = [await on.newTeam(), await on.newTeam()]
      await other.apiTokens.add(on.newApiToken(), noon)
      const { team, token } = await on.service.store.teams.prepareFirst(on.newApiToken(), 'if_none', noon)
      assert.deepEqual({ id: team.id, token }, { id: first.teamId, token: 'added' })
      assert.equal((await first.apiTokens.all()).length, 1)
    })
  })

for (const engine of engines)
  describe(`master keys in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('are registered by one of many who start at once, and seen by all the others', async () => {
      const { keys } = on.service.store
      const sealed = { keyId: 'new', bytes: randomBytes(60) }
      const seen: number[] = []
      const decide = (known: ReadonlyMap<string, Uint8Array>) => {
        seen.push(known.size)
        return known.has('new') ? undefined : sealed
      }
      await Promise.all(times(10, () => keys.register(decide, noon)))
      assert.deepEqual(seen.sort(), [1, ...times(9, () => 2)])
      const all = await keys.all()
      assert.deepEqual([...all.keys()].sort(), [on.service.tokens.newestKeyId, 'new'].sort())
      assert.deepEqual(Buffer.from(all.get('new') ?? []), sealed.bytes)
      await assert.rejects(keys.register(() => assert.fail('no'), noon))
      assert.equal((await keys.all()).size, 2)
      assert.deepEqual(await keys.retireOthers(on.service.tokens.newestKeyId), ['new'])
    })

    it('tell what is still sealed under others, in pages, of all teams', async (t) => {
      const { service, id, oldId, teams } = await underTwoKeys(t, engine)
      assert.equal(await service.store.keys.countSealedByOthers(id), 8)
      assert.equal(await service.store.keys.countSealedByOthers(oldId), 0)
      const rows = await resealedRows(service)
      assert.deepEqual(Object.groupBy(rows, ({ purpose }) => purpose)['data_source.connection']?.length, 2)
      for (const { teamId } of teams) assert.equal(rows.filter((row) => row.teamId === teamId).length, 4)
      assert.ok(rows.every(({ sealed }) => sealed.keyId === oldId))
      const inPages = await resealedRows(service, 1)
      assert.deepEqual(
        inPages.map(({ plain }) => plain),
        rows.map(({ plain }) => plain),
      )
    })

    it('are replaced without a secret changing, save one rotated meanwhile, which is left alone', async (t) => {
      const { service, teams, id, oldId, openAfterwards } = await underTwoKeys(t, engine)
      const { keys } = service.store
      const rows = await resealedRows(service)
      const rotated = rows.find(({ purpose }) => purpose === 'user_group.token') ?? assert.fail()
      const fresh = await teams[0]?.rotate(rotated.plain)
      assert.deepEqual(await keys.retireOthers(id), [])
      assert.equal(await keys.reseal(rows), 7)
      assert.equal(await keys.reseal(rows), 0)
      assert.equal(await keys.countSealedByOthers(id), 1)
      assert.deepEqual(await keys.retireOthers(id), [])
      const [last, ...more] = await resealedRows(service)
      assert.deepEqual([last?.plain, more], [fresh, []])
      assert.equal(await keys.reseal(last ? [last] : []), 1)
      assert.deepEqual(await keys.retireOthers(id), [oldId])
      assert.deepEqual([...(await keys.all()).keys()], [id])

      const { store, tokens } = await openAfterwards()
      const tokensNow: string[] = []
      for (const { teamId } of teams)
        for (const providedId of ['a', 'b', 'c']) {
          const found = await store.forTeam(teamId, null).userGroups.find(providedId)
          tokensNow.push(tokens.openToken(found ?? assert.fail()))
        }
      const plain = rows.filter(({ purpose }) => purpose === 'user_group.token').map((row) => row.plain)
      assert.deepEqual(
        tokensNow,
        plain.map((token) => (token === rotated.plain ? fresh : token)),
      )
    })

    it('seal a batch as a whole or not at all', async (t) => {
      const { service } = await underTwoKeys(t, engine)
      const rows = await resealedRows(service)
      const bad = { ...(rows.at(-1) ?? assert.fail()), fresh: { keyId: 'no such key', bytes: randomBytes(60) } }
      await assert.rejects(service.store.keys.reseal([...rows.slice(0, -1), bad]))
      const sealed = (row: Resealed) => row.sealed
      assert.deepEqual((await resealedRows(service)).map(sealed), rows.map(sealed))
    })
  })

/** Whatever the table holds, a statement that has looked at more than so many rows of it fails. */
const failBeyond = 10_000
const lookAtFew = [
  // Said to cost next to nothing, it is called before a row is looked at in any other way.
  `create function looked() returns boolean language plpgsql cost 0.0001 as $$ begin
    if current_setting('test.statement', true) is distinct from statement_timestamp()::text then
      perform set_config('test.statement', statement_timestamp()::text, false), set_config('test.looked', '0', false);
    end if;
    perform set_config('test.looked', (current_setting('test.looked')::int + 1)::text, false);
    if current_setting('test.looked')::int > ${failBeyond} then raise 'too many rows'; end if;
    return true;
  end $$`,
  'alter table user_group rename to every_user_group',
  'analyze every_user_group',
  'create view user_group as select * from every_user_group where looked()',
]

describe('many user groups in PostgreSQL', () => {
  const on = storeOn(postgres)

  it('are counted, and searched for what is sealed under old keys, by statements that look at a part of them each', async () => {
    const { store, tokens } = on.service
    const team = await on.newTeam()
    await team.make('acme')
    await store.keys.register(() => ({ keyId: 'old', bytes: randomBytes(60) }), noon)
    await on.sql(`
      insert into user_group (id, team_id, provided_id, name, token_hash, token_sealed, token_key, disabled, created_at,
        updated_at, mapping, properties)
      select n, team_id, n, n, sha256(n::text::bytea), token_sealed, case n when 12000 then 'old' else token_key end, 0,
        created_at, updated_at, '{}', '{}'
      from user_group, generate_series(1, 12000) n`)
    for (const statement of lookAtFew) await on.sql(statement)
    assert.equal(await team.userGroups.count(), 12_001)
    assert.equal(await store.keys.countSealedByOthers(tokens.newestKeyId), 1)
    const left = await store.keys.sealedByOthers('user_group.token', tokens.newestKeyId, 0, 10)
    assert.deepEqual(
      left.map(({ id }) => id),
      [12_000],
    )
  })
})
