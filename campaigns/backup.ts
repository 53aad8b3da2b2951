import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { runCommand } from '../test/support/command.ts'
import type { Engine } from '../test/support/engines.ts'
import type { CalledService, Premises } from '../test/support/premises.ts'
import { sqlitePath } from '../test/support/raw-database.ts'
import { assertRefusal } from '../test/support/refusal.ts'
import type { Environment } from '../test/support/service-process.ts'
import { Bookkeeping } from './bookkeeping.ts'
import type { Campaign } from './campaign.ts'
import { onBothEngines } from './on-both-engines.ts'
import { goBackInTime } from './point-in-time.ts'
import { postgresDumps } from './postgres-dumps.ts'

export const backup: Campaign = {
  promise: 'A backup taken under load restores to a state in which nothing is missing and everything fits.',
  unit: 'backups on each engine',
  full: 20,
  brief: 1,
  bugs: {
    'a copy of the file without its WAL': {
      on: 'SQLite',
      shows: /is missing from the backup|the backup cannot be restored/,
      rewrites: [
        {
          file: 'store/sqlite-file.ts',
          find: 'await backup(source, copy,',
          replace: "await ((_, to) => process.getBuiltinModule('fs').copyFileSync(path, to))(source, copy,",
        },
      ],
    },
    'a restore that does not look at what it restores': {
      on: 'SQLite',
      shows: /a damaged backup was put in place/,
      rewrites: [{ file: 'commands/restore.ts', find: 'faultIn(draft)', replace: 'undefined' }],
    },
  },
  async run({ size, engines, environment, progress }) {
    const results = await onBothEngines({ engines, environment }, async (premises, engine) => {
      const service = await premises.start()
      const books = new Bookkeeping(service.caller)
      await books.more(20)
      const backUp = engine.name === 'SQLite' ? backUpSqlite : backUpPostgres
      return backUp({
        premises,
        engine,
        service,
        settings: environment,
        books,
        rounds: size,
        onRound: (round) => progress(round, engine.name),
      })
    })
    const checked = results.map(({ groups }) => groups).reduce((a, b) => a + b)
    const how = results.map(({ inWords }) => inWords).join('; ')
    return `${size} backups under load on each engine restored, ${checked} groups in them looked at, 0 missing, 0 that do not fit; ${how}`
  },
}

interface Site {
  premises: Premises
  engine: Engine
  service: CalledService
  settings: Environment
  books: Bookkeeping
  rounds: number
  onRound(round: number): void
}

interface Result {
  groups: number
  inWords: string
}

async function backUpSqlite({ premises, service, books, rounds, onRound }: Site): Promise<Result> {
  const { environment } = premises
  const folder = premises.database.folder as string
  const copy = join(folder, 'copy.db')
  const elsewhere = { ...environment, DATABASE_URL: `sqlite:${join(folder, 'restored.db')}` }
  let groups = 0
  let before = books.snapshot()
  for (let round = 1; round <= rounds; round++) {
    const endReading = readOn(sqlitePath(environment))
    await books.more(20)
    before = books.snapshot()
    rmSync(copy, { force: true })
    await run(environment, 'backup', copy)
    endReading()
    await run(elsewhere, 'restore', copy, '--force')
    groups += await books.assertRestored(elsewhere, before)
    onRound(round)
  }
  await assertGuarded(environment, elsewhere, copy)
  await books.end()
  await service.stop('SIGKILL')
  await run(environment, 'restore', copy, '--force')
  groups += await books.assertRestored(environment, before)
  return { groups, inWords: 'SQLite with ugs backup and ugs restore, the last one in place of the database itself' }
}

/** As long as somebody reads what was there, SQLite leaves what came later in the WAL. */
function readOn(path: string): () => void {
  const connection = new DatabaseSync(path, { readOnly: true })
  connection.exec('begin')
  connection.prepare('select count(*) from user_group').get()
  return () => connection.close()
}

async function run(environment: Environment, ...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand(environment, ...args)
  assert.equal(code, 0, `the backup cannot be ${args[0] === 'restore' ? 'restored' : 'made'}: ${stderr}`)
}

/** What a restore must not do. */
async function assertGuarded(running: Environment, elsewhere: Environment, copy: string): Promise<void> {
  const damaged = `${copy}.damaged`
  const bytes = readFileSync(copy)
  writeFileSync(damaged, bytes.fill(0xff, bytes.length - 4096))
  const [onRunning, ofDamaged] = await Promise.all([
    runCommand(running, 'restore', copy, '--force'),
    runCommand(elsewhere, 'restore', damaged, '--force'),
  ])
  assert.notEqual(onRunning.code, 0, 'a database in use was replaced')
  assertRefusal(onRunning, /is in use/, /Stop the service/)
  assert.notEqual(ofDamaged.code, 0, 'a damaged backup was put in place')
  assertRefusal(ofDamaged, /is damaged/, /another copy/)
}

async function backUpPostgres({ premises, engine, settings, books, rounds, onRound }: Site): Promise<Result> {
  const { environment } = premises
  const dumps = await postgresDumps(environment)
  let groups = 0
  for (let round = 1; round <= rounds; round++) {
    const before = books.snapshot()
    const dump = await dumps.make(environment)
    const fresh = await engine.freshDatabase()
    const restored = { ...environment, DATABASE_URL: fresh.environment.DATABASE_URL }
    await dumps.restore(dump, restored)
    groups += await books.assertRestored(restored, before)
    await fresh.remove()
    groups += await goBackInTime(settings)
    onRound(round)
  }
  await books.end()
  return { groups, inWords: `PostgreSQL ${dumps.inWords}, and by its archived log to a moment before a mistake` }
}
