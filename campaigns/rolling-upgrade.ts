import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Caller } from '../test/support/caller.ts'
import { eventually } from '../test/support/eventually.ts'
import { Load } from '../test/support/load.ts'
import type { CalledService, Premises } from '../test/support/premises.ts'
import { assertConsistent } from './consistency.ts'
import { assertKept } from './kept.ts'

interface Member {
  version: 'old' | 'new'
  service: CalledService
  load: Load
}

const withoutBug = { NODE_OPTIONS: undefined, PLANTED_BUG: undefined }

/** A new process starts beside an old one under load, and one of them is killed. Returns how many groups were kept. */
export async function workTogether(
  premises: Premises,
  program: string | undefined,
  random: () => number,
): Promise<number> {
  const old = await join('old', await premises.start(withoutBug, program === undefined ? {} : { program }))
  const fresh = await join('new', await premises.start())
  await assertSeeEachOther(old, fresh)
  await pause(random() * 100)
  const [killed, left] = random() < 0.5 ? [old, fresh] : [fresh, old]
  await killed.service.stop('SIGKILL')
  await Promise.all([killed.load.end(), left.load.end()])
  assertOnlyBusy(killed, / \d{3} \{/)
  assertOnlyBusy(left, /./)

  const successor = await premises.start()
  const groups = [...killed.load.groups, ...left.load.groups]
  await Promise.all(
    groups.map((group, index) => assertKept(index % 2 === 0 ? left.service.caller : successor.caller, group)),
  )
  await assertConsistent(premises.environment)
  return groups.length
}

async function join(version: Member['version'], service: CalledService): Promise<Member> {
  const load = new Load(service.caller, `made by the ${version} one,`)
  await eventually(`the load on the ${version} version runs`, () => load.acknowledged > 20 || load.failures.length > 0)
  return { version, service, load }
}

/** A process may say that it cannot just now, but nothing worse. */
function assertOnlyBusy({ version, load }: Member, telling: RegExp): void {
  const worse = load.failures.filter((failure) => telling.test(failure) && !/: 503 \{/.test(failure))
  assert.ok(worse.length === 0, `a process of the ${version} version failed: ${worse[0]}`)
}

/** What one has answered, the other one knows. */
async function assertSeeEachOther(old: Member, fresh: Member): Promise<void> {
  for (const [one, other] of [
    [old, fresh],
    [fresh, old],
  ] as const) {
    const id = `made by the ${one.version} one for both`
    const made = await patiently(one, (caller) => caller.getOrCreate(id))
    assert.equal(made.new_user_group, true)
    const found = await patiently(other, (caller) => caller.getOrCreate(id))
    assert.deepEqual(found, { ...made, new_user_group: false })
    const rotated = await patiently(other, (caller) => caller.rotate(made.user_group.token))
    const [ended, current] = [made, rotated].map(({ user_group }) => user_group.token)
    assert.equal((await patiently(one, (caller) => caller.verify(ended))).reason, 'rotated')
    const { active } = await patiently(one, (caller) => caller.verify(current))
    assert.ok(active, `the ${one.version} version does not find a token of the ${other.version} one`)
  }
}

async function patiently({ version, service }: Member, call: (caller: Caller) => Promise<Answer>) {
  for (;;) {
    const { status, body } = await call(service.caller)
    if (status === 200) return body
    assert.equal(status, 503, `a process of the ${version} version failed: ${status} ${JSON.stringify(body)}`)
  }
}
