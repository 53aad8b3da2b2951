import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { Load, type TrackedGroup } from '../support/load.ts'
import { Premises } from '../support/premises.ts'
import { rawCount } from '../support/raw-database.ts'

const rounds = Number(process.env.KILL_ROUNDS ?? 5)

for (const engine of engines)
  describe(`a process killed in the middle of its writes on ${engine.name}`, { timeout: rounds * 30_000 }, () => {
    it(`has lost nothing it acknowledged and left nothing half done, ${rounds} times`, async (t) => {
      const premises = await Premises.open(t, engine)
      const earlier: TrackedGroup[] = []
      let service = await premises.start()
      for (let round = 0; round < rounds; round++) {
        const load = new Load(service.caller, `round ${round}`)
        await eventually('the load runs', () => load.acknowledged > 30)
        await pause(Math.random() * 250)
        const killed = service.stop('SIGKILL')
        await load.end()
        await killed
        assert.ok(
          load.groups.some(({ pending }) => pending),
          'it died while answers were owed',
        )
        assert.equal(load.failures.filter((failure) => / \d{3} \{/.test(failure)).join('\n'), '')

        service = await premises.start()
        await Promise.all(load.groups.map((group) => assertKept(service.caller, group)))
        earlier.push(...load.groups)
        assert.equal(await rawCount(premises.environment, 'user_group'), earlier.length)
      }
      await Promise.all(earlier.map((group) => assertKept(service.caller, group)))
    })
  })

/** What was acknowledged is there; what was still owed has happened whole, or not at all. */
async function assertKept(caller: Caller, group: TrackedGroup): Promise<void> {
  const { status, body } = await caller.getOrCreate(group.id)
  assert.equal(status, 200, `${group.id}: ${JSON.stringify(body)}`)
  const { token } = body.user_group
  if (group.token !== undefined) {
    assert.equal(body.new_user_group, false, `${group.id} was acknowledged, and is lost`)
    if (!group.pending) assert.equal(token, group.token, `${group.id} has lost an acknowledged token`)
    if (token !== group.token) group.former.push(group.token)
  }
  for (const former of group.former.slice(-2)) {
    const refused = await caller.rotate(former)
    assert.equal(refused.body.error?.code, 'token_already_rotated', `${group.id} has forgotten a former token`)
  }
  // The token that is shown is also the one that is found: seal and hash were written together.
  const rotated = await caller.rotate(token)
  assert.equal(rotated.status, 200, `${group.id}: ${JSON.stringify(rotated.body)}`)
  group.former.push(token)
  group.token = rotated.body.user_group.token
  group.pending = false
}
