import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Caller } from '../test/support/caller.ts'
import { newMasterKey } from '../test/support/engines.ts'
import type { CalledService } from '../test/support/premises.ts'
import { rawSql } from '../test/support/raw-database.ts'
import { assertRefusal, failingStart } from '../test/support/refusal.ts'
import { type Environment, startService } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'
import type { Campaign } from './campaign.ts'
import { type Damage, damages, type Workshop } from './damages.ts'
import { type Loss, losses } from './losses.ts'
import { isServing, serviceOn } from './service.ts'
import { openSmallDisk, type SmallDisk } from './small-disk.ts'
import { assertRecorded } from './things.ts'
import { Traffic } from './traffic.ts'

const patience = 5_000

export const disk: Campaign = {
  promise:
    'On a full disk reads go on, and writes do again once there is room; a file that is not whole is refused, and one that is taken away is missed.',
  unit: 'times a full disk, a damaged file and one that is taken away, on SQLite',
  full: 100,
  brief: 3,
  lacks: () => (process.platform === 'linux' ? undefined : 'Linux, whose file systems can be small'),
  bugs: {
    'a full disk taken for a bug': {
      shows: /neither the right answer nor 503: 500/,
      rewrites: [
        {
          file: 'store/sqlite-errors.ts',
          find: 'new Set(Object.values(codes))',
          replace: 'new Set(Object.values(codes)).difference(new Set([codes.ioError, codes.full]))',
        },
      ],
    },
    'a commit that failed taken for done': {
      shows: /is lost|has lost|should be|nor 503: 40[49]/,
      rewrites: [
        {
          file: 'store/sqlite-writes.ts',
          find: 'else for (const write of writes) write.reject(translate(error))',
          replace: 'else for (const settle of settled) settle()',
        },
      ],
    },
    'a start that does not look at the pages': {
      shows: /a database with a page of zeros was served/,
      rewrites: [{ file: 'store/sqlite-fitness.ts', find: `finding !== 'ok'`, replace: 'false' }],
    },
    'a file that is gone and that nobody misses': {
      shows: /\(the database moved away\) was answered with 200/,
      rewrites: [{ file: 'store/files-in-place.ts', find: 'const there = at(path)', replace: 'const there = opened' }],
    },
    'a log that is gone and that nobody misses': {
      shows: /\(its log moved away\) was answered with 200/,
      rewrites: [
        {
          file: 'store/sqlite.ts',
          find: 'new FilesInPlace(path, index, log)',
          replace: 'new FilesInPlace(path, index)',
        },
      ],
    },
  },
  async run({ size, random, environment, progress }) {
    await using cleanup = new AsyncDisposableStack()
    const settings = { UGS_MASTER_KEY: newMasterKey(), ...environment }
    const [own, other] = [openSmallDisk(), openSmallDisk()]
    cleanup.defer(async () => {
      own.remove()
      other.remove()
    })
    const DATABASE_URL = `sqlite:${join(own.folder, 'test.db')}`
    const service = await serviceOn(cleanup, DATABASE_URL, settings)
    const tokens = await someTokens(service.caller)
    const copy = join(other.folder, 'whole.db')
    await rawSql({ DATABASE_URL }, `vacuum into '${copy}'`)
    const possible = damages.filter(({ makesReadOnly }) => !makesReadOnly || other.canBeReadOnly)
    const workshop = { disk: other, whole: readFileSync(copy), path: join(other.folder, 'test.db'), random }

    const traffic = await Traffic.prepare(service.caller, random)
    for (let round = 0; round < size; round++) {
      const looksBefore = traffic.refused.looks
      await traffic.around(() => fillUp(own, service, traffic))
      assert.equal(traffic.refused.looks, looksBefore, 'on a full disk the service did not even read')
      const [loss, damage] = [losses[round % losses.length] as Loss, possible[round % possible.length] as Damage]
      await traffic.around(() => takeAway(loss, own.folder, service, traffic))
      await assertRefused(damage, workshop, settings, tokens)
      progress(round + 1, `${loss.name}, ${damage.name}`)
    }
    await traffic.assertKept()
    await assertRecorded({ DATABASE_URL }, traffic.things)
    const { refused, things } = traffic
    return `${size} times full, ${refused.changes} writes refused, ${size} times a file taken away, ${things.length} things looked at afterwards, 0 lost; ${size} damaged files, 0 served wrong`
  },
}

async function someTokens(caller: Caller): Promise<ReadonlyMap<string, string>> {
  const answers = await Promise.all(times(50, (index) => caller.getOrCreate(`kept ${index}`)))
  return new Map(answers.map(({ body: { user_group } }) => [user_group.provided_id, user_group.token]))
}

async function fillUp(small: SmallDisk, service: CalledService, traffic: Traffic): Promise<void> {
  await traffic.answers(20)
  const { changes } = traffic.refused
  small.fill(service)
  await traffic.until('writes are refused', () => traffic.refused.changes > changes)
  await traffic.answers(20)
  small.free(service)
  await traffic.until('writes go on', () => isServing(service.caller), patience)
}

async function takeAway(loss: Loss, folder: string, { caller }: CalledService, traffic: Traffic): Promise<void> {
  await traffic.answers(20)
  const putBack = loss.inflict(join(folder, 'test.db'))
  for (let write = 0; write < 10; write += 1) {
    const { status } = await caller.getOrCreate(`lost ${randomUUID()}`)
    assert.equal(status, 503, `a write to a file that is gone (${loss.name}) was answered with ${status}`)
  }
  if (!loss.leavesReads)
    for (const path of ['/readyz', '/api/user_groups']) {
      const { status } = await caller.call('GET', path)
      assert.equal(status, 503, `${path} of a file that is gone (${loss.name}) was answered with ${status}`)
    }
  assert.equal((await caller.call('GET', '/healthz')).status, 200)
  putBack()
  await traffic.until('the service goes on', () => isServing(caller), patience)
}

async function assertRefused(
  damage: Damage,
  workshop: Workshop,
  settings: Environment,
  tokens: ReadonlyMap<string, string>,
): Promise<void> {
  const { disk, path } = workshop
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { recursive: true, force: true })
  damage.inflict(workshop)
  const environment = { ...settings, DATABASE_URL: `sqlite:${path}` }
  const ended = await failingStart(environment)
  if (damage.makesReadOnly) disk.setReadOnly(false)
  const hasListened = ended.code === null
  if (!hasListened) return assertRefusal(ended, damage.says, /./, [String(settings.UGS_MASTER_KEY)])
  assert.ok(damage.mayDoNoHarm, `a database with ${damage.name} was served`)
  await assertRight(environment, tokens)
}

async function assertRight(environment: Environment, tokens: ReadonlyMap<string, string>): Promise<void> {
  const service = await startService(environment)
  const caller = new Caller(service.url)
  try {
    for (const [id, token] of tokens) assert.equal((await caller.getOrCreate(id)).body.user_group.token, token)
  } finally {
    await caller.close()
    await service.stop('SIGKILL')
  }
}
