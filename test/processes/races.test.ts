import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { type CalledService, Premises } from '../support/premises.ts'
import { rawCount, rawSql } from '../support/raw-database.ts'
import { times } from '../support/times.ts'

const rounds = 3

for (const engine of engines)
  describe(`several processes on one database, on ${engine.name}`, () => {
    let premises: Premises
    let services: CalledService[]
    before(async () => {
      premises = await Premises.open(undefined, engine)
      services = await premises.startAtOnce(3)
    })
    after(() => premises.close())

    it('create a user group once when 200 callers want it at the same moment', async () => {
      for (const round of times(rounds, String)) {
        const answers = await Promise.all(times(200, (i) => pick(services, i).caller.getOrCreate(`wanted ${round}`)))
        assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 200 })
        const created = answers.filter(({ body }) => body.new_user_group)
        assert.equal(created.length, 1, `wanted ${round} was created ${created.length} times`)
        assert.equal(new Set(answers.map(({ body }) => body.user_group.token)).size, 1)
      }
      assert.equal(await rawCount(premises.environment, "user_group where provided_id like 'wanted %'"), rounds)
    })

    it('let exactly one of 200 concurrent callers rotate a token', async () => {
      for (const round of times(rounds, String)) {
        const made = await pick(services, 0).caller.getOrCreate(`rotated ${round}`)
        const { token } = made.body.user_group
        const answers = await Promise.all(times(200, (i) => pick(services, i).caller.rotate(token)))
        const outcomes = tally(answers.map(({ status, body }) => body.error?.code ?? status))
        assert.deepEqual(outcomes, { 200: 1, token_already_rotated: 199 })
        assert.ok(answers.every(({ status }) => status === 200 || status === 409))
        const winner = answers.find(({ status }) => status === 200)
        for (const { caller } of services) {
          const found = await caller.getOrCreate(`rotated ${round}`)
          assert.equal(found.body.user_group.token, winner?.body.user_group.token)
        }
      }
    })

    it('show a rotation that one has acknowledged to the next request on another, 50 times', async () => {
      let { token } = (await pick(services, 0).caller.getOrCreate('acme')).body.user_group
      // Somebody reads all the time, so that whatever a process might remember is being renewed at the wrong moment.
      const reading = new AbortController()
      const readers = services.map(async ({ caller }) => {
        while (!reading.signal.aborted) assert.equal((await caller.getOrCreate('acme')).status, 200)
      })
      try {
        for (let i = 0; i < 50; i++) {
          const rotated = await pick(services, i).caller.rotate(token)
          assert.equal(rotated.status, 200)
          const [found, again] = await Promise.all([
            pick(services, i + 1).caller.getOrCreate('acme'),
            pick(services, i + 2).caller.rotate(token),
          ])
          assert.equal(found.body.user_group.token, rotated.body.user_group.token)
          assert.equal(again.body.error.code, 'token_already_rotated')
          token = rotated.body.user_group.token
        }
      } finally {
        reading.abort()
        await Promise.all(readers)
      }
    })

    it('show a new user group that one has acknowledged to the next request on another', async () => {
      for (const id of times(50, (i) => `seen ${i}`)) {
        const made = await pick(services, 0).caller.getOrCreate(id)
        const found = await pick(services, 1).caller.getOrCreate(id)
        assert.deepEqual(found.body, { ...made.body, new_user_group: false })
      }
    })

    it('migrate once, and agree on the keys, when five start at the same moment on an empty database', async (t) => {
      // On SQLite without a configured key, so that they also make master.key at the same moment.
      const empty = await Premises.open(t, engine, {
        UGS_API_TOKEN: undefined,
        ...(engine.name === 'SQLite' && { UGS_MASTER_KEY: undefined }),
      })
      const started = await empty.startAtOnce(5)
      for (const { caller } of started) assert.equal((await caller.call('GET', '/readyz')).status, 200)
      const versions = await rawSql(empty.environment, 'select version from schema_version order by version')
      assert.ok(versions.length > 0)
      assert.deepEqual(
        versions.map(({ version }) => Number(version)),
        times(versions.length, (i) => i + 1),
      )
      assert.equal(await rawCount(empty.environment, 'team'), 1)
      assert.equal(await rawCount(empty.environment, 'api_token'), 1)
      assert.equal(await rawCount(empty.environment, 'master_key'), 1)

      const printed = started.flatMap(
        (service) => /(uga_\w+) +\(shown only now\)/.exec(service.output().stderr)?.[1] ?? [],
      )
      assert.equal(printed.length, 1, 'one of them makes the first API token, and prints it')
      const callers = started.map((service) => empty.call(service, printed[0]))
      const answers = await Promise.all(callers.map((caller) => caller.getOrCreate('acme')))
      assert.equal(new Set(answers.map(({ body }) => body.user_group.token)).size, 1)
    })
  })

function pick<T>(from: readonly T[], index: number): T {
  return from[index % from.length] as T
}

function tally(values: readonly (string | number)[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(values, String)].map(([value, all]) => [value, all.length]))
}
