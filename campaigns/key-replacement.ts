import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Caller } from '../test/support/caller.ts'
import { runCommand, startCommand } from '../test/support/command.ts'
import { newMasterKey } from '../test/support/engines.ts'
import { eventually } from '../test/support/eventually.ts'
import { Load, type TrackedGroup } from '../test/support/load.ts'
import type { CalledService, Premises } from '../test/support/premises.ts'
import { rawCount, rawSql } from '../test/support/raw-database.ts'
import { assertRefusal } from '../test/support/refusal.ts'
import { type Environment, spawnUgs } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'
import type { Attempt } from './campaign.ts'
import { imported, importGroups } from './imported-groups.ts'
import { attackConnection, connectionDoesNotOpen, spoilConnection } from './sealed-values.ts'

export interface Replacement {
  /** Still runs, with both keys. */
  service: CalledService
  /** With the new key alone. */
  environment: Environment
  kills: number
  attacks: number
  requests: number
}

/** Few: the more they get done, the less does the replacing, and each answer counts the same. */
const clients = 2

type Note = (done: number, what: string) => void

export async function replaceKeyUnderLoad(premises: Premises, attempt: Attempt, note: Note): Promise<Replacement> {
  const { size, random } = attempt
  await importGroups(premises.environment, size, (done) => note(done, 'imported'))
  const onlyNew = { ...premises.environment, UGS_MASTER_KEY: newMasterKey() }
  const both = { ...onlyNew, UGS_MASTER_KEY: `${onlyNew.UGS_MASTER_KEY},${premises.environment.UGS_MASTER_KEY}` }

  const service = await premises.start(both)
  const load = new Load(service.caller, 'made meanwhile', imported.busyGroups(size), clients)
  const readers = new Readers(service.caller, attempt)
  const runs = Math.min(50, Math.ceil(size / 2_000))
  // So that no run gets to its end: behind one that was killed too late nothing would be left to attack.
  const connection = await spoilConnection(both)
  const kills = await rotateAndKill(both, runs, attempt, note)
  const attacks = await attackConnection(both, connection, Math.min(runs, 10), random)
  const ended = await runCommand(both, 'keys', 'rotate', '--json')
  assert.equal(ended.code, 0, `the last run of keys rotate: ${ended.stderr}`)
  await Promise.all([load.end(), readers.end()])
  const failures = [...load.failures, ...readers.failures]
  assert.ok(failures.length === 0, `${failures.length} requests failed while the key was replaced: ${failures[0]}`)

  const { key } = JSON.parse(ended.stdout)
  const left = await rawSql(onlyNew, 'select id from master_key')
  assert.deepEqual(
    left.map(({ id }) => id),
    [key],
    'the old key is retired',
  )
  assert.equal(await rawCount(onlyNew, `user_group where token_key <> '${key}'`), 0)
  assert.equal(await rawCount(onlyNew, `data_source where connection_key <> '${key}'`), 0)
  await assertTokensAreAsBefore(onlyNew, size, load.groups)
  note(size, 'sealed anew')
  return {
    service,
    environment: onlyNew,
    ...{ kills, attacks, requests: load.acknowledged + readers.answered },
  }
}

/** Kills one run after the other when it has come to a group chosen by chance, each further on than the last. */
async function rotateAndKill(both: Environment, runs: number, { size, random }: Attempt, note: Note): Promise<number> {
  let kills = 0
  for (let run = 0; run < runs; run++) {
    note(Math.round((size * run) / runs), 'sealed anew')
    const chosen = imported.id(imported.quiet(Math.floor((size * (run + random())) / (runs + 1))))
    const rotation = startCommand(both, 'keys', 'rotate')
    let hasEnded = false
    void rotation.ended.then(() => {
      hasEnded = true
    })
    const oldest = 'select id from master_key order by created_at limit 1'
    const sealedAnew = `user_group where team_id = 1 and provided_id = '${chosen}' and token_key <> (${oldest})`
    await eventually(
      `${chosen} is sealed anew`,
      async () => hasEnded || (await rawCount(both, sealedAnew)) === 1,
      60_000,
    )
    rotation.process.kill('SIGKILL')
    const ended = await rotation.ended
    if (ended.code === null) kills += 1
    else assertRefusal(ended, ...connectionDoesNotOpen)
  }
  return kills
}

/** Look quiet groups up and verify their tokens, all the time, until something is wrong. */
class Readers {
  readonly failures: string[] = []
  answered = 0
  readonly #clients: Promise<void>[]
  #ending = false

  constructor(caller: Caller, attempt: Attempt) {
    this.#clients = times(clients, () => this.#read(caller, attempt))
  }

  async end(): Promise<void> {
    this.#ending = true
    await Promise.all(this.#clients)
  }

  async #read(caller: Caller, { size, random }: Attempt): Promise<void> {
    try {
      while (!this.#ending) {
        const index = imported.quiet(Math.floor(random() * (size - 1)))
        await Promise.all([lookUp(caller, index), verify(caller, index)])
        this.answered += 2
      }
    } catch (error) {
      this.failures.push((error as Error).message)
    }
  }
}

async function lookUp(caller: Caller, index: number): Promise<void> {
  const { status, body } = await caller.getOrCreate(imported.id(index))
  const isAsBefore = body.new_user_group === false && body.user_group?.token === imported.token(index)
  assert.ok(isAsBefore, `the look-up of ${imported.id(index)} answered ${status} ${JSON.stringify(body)}`)
}

async function verify(caller: Caller, index: number): Promise<void> {
  const { status, body } = await caller.verify(imported.token(index))
  const isAsBefore = body.active === true && body.user_group.provided_id === imported.id(index)
  assert.ok(isAsBefore, `verifying ${imported.token(index)} answered ${status} ${JSON.stringify(body)}`)
}

/** An export opens every single one. */
async function assertTokensAreAsBefore(
  environment: Environment,
  size: number,
  tracked: readonly TrackedGroup[],
): Promise<void> {
  const rotated = new Map(tracked.map(({ id, token }) => [id, token]))
  const exporting = spawnUgs(environment, 'user-group', 'export', '-', '--with-tokens', '--format', 'jsonl')
  const complaints = exporting.stderr.setEncoding('utf8').toArray()
  const closed = once(exporting, 'close')
  let count = 0
  for await (const line of createInterface({ input: exporting.stdout })) {
    const { user_group_id: id, token } = JSON.parse(line)
    const index = imported.indexOf(id)
    const before = rotated.get(id) ?? (index === undefined ? undefined : imported.token(index))
    if (before === undefined) continue
    assert.equal(token, before, `the token of ${id} is not as it was`)
    count += 1
  }
  await closed
  assert.equal(exporting.exitCode, 0, `a token is not as it was: ${(await complaints).join('')}`)
  const expected = tracked.length + size - imported.busyGroups(size).length
  assert.equal(count, expected, 'groups in the export')
}
