import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from '../test/support/caller.ts'
import { engines } from '../test/support/engines.ts'
import { eventually } from '../test/support/eventually.ts'
import { Load, type TrackedGroup } from '../test/support/load.ts'
import { Premises } from '../test/support/premises.ts'
import { rawCount } from '../test/support/raw-database.ts'
import type { Attempt, Campaign } from './campaign.ts'

export const kill: Campaign = {
  promise: 'A process killed in the middle of its writes has lost nothing it acknowledged and left nothing half done.',
  unit: 'rounds on each engine',
  full: 500,
  brief: 3,
  bugs: {
    'an answer before the commit': {
      shows: /was acknowledged, and is lost|has lost an acknowledged token/,
      rewrites: [
        {
          file: 'store/sqlite.ts',
          find: 'this.#commitTogether(this.#queue.splice(0))',
          replace: `const taken = this.#queue.splice(0).map((write) => ({ ...write }))
            const settled = taken.map((write) => this.#performAlone(write))
            for (const settle of settled) settle()
            await pause(20)
            this.#connection.exec('commit')`,
        },
      ],
    },
  },
  async run(attempt) {
    let checked = 0
    for (const [index, engine] of engines.entries()) {
      await using premises = await Premises.open(undefined, engine, attempt.environment)
      checked += await killRounds(premises, attempt, (round) => {
        attempt.progress(Math.floor((index * attempt.size + round) / engines.length), engine.name)
      })
    }
    return `${attempt.size} kills on each engine, ${checked} groups looked at afterwards, 0 lost, 0 half done`
  },
}

async function killRounds(premises: Premises, { size, random }: Attempt, onRound: (round: number) => void) {
  const earlier: TrackedGroup[] = []
  let service = await premises.start()
  for (let round = 0; round < size; round++) {
    const load = new Load(service.caller, `round ${round}`)
    await eventually('the load runs', () => load.acknowledged > 30)
    await pause(random() * 250)
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
    onRound(round + 1)
  }
  await Promise.all(earlier.map((group) => assertKept(service.caller, group)))
  return earlier.length
}
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
