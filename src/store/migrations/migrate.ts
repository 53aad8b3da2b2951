import { OperatorError } from '../../operator-error.ts'
import { type Database, type Engine, MissingTable, run, type Statement, sql, type Work } from '../database.ts'
import { initial } from './001-initial.ts'
import { fewerIndexEntries } from './002-fewer-index-entries.ts'
import { formerTokensInGrace } from './003-former-tokens-in-grace.ts'
import { listsByAge } from './004-lists-by-age.ts'
import { moreOfAnEvent } from './005-more-of-an-event.ts'
import { tokensInOnePlace } from './006-tokens-in-one-place.ts'
import { leadingTokens } from './007-leading-tokens.ts'

type Statements = readonly Statement<[]>[]

/** Forward only, in order: the number of a migration is its place in this list. */
const migrations: readonly (Statements | Record<Engine, Statements>)[] = [
  initial,
  fewerIndexEntries,
  formerTokensInGrace,
  listsByAge,
  moreOfAnEvent,
  tokensInOnePlace,
  leadingTokens,
]

const createVersions = sql`create table if not exists schema_version (
  version bigint primary key,
  applied_at bigint not null
)`
const latestVersion = sql<[version: number | null]>`select max(version) from schema_version`
const recordVersion = sql`insert into schema_version (version, applied_at) values ($1, $2)`

const appliedAt = sql<[at: number]>`select applied_at from schema_version where version in (1, $1) order by version`

/** For so long after a migration there may be processes of the version before. */
const transition = 24 * 60 * 60_000

/** A new database never had any. */
export async function leadsFrom(database: Database): Promise<number> {
  const [[first] = [0], [leads] = [0]] = await database.read(appliedAt, migrations.indexOf(leadingTokens) + 1)
  return leads === first ? 0 : leads + transition
}

/** Ten processes that start at once migrate once: the others wait for the first and find nothing left to do. */
export async function migrate(database: Database, now: number): Promise<void> {
  // Where nothing is left to do, nobody needs the right to do it.
  if ((await versionOf(database)) === migrations.length) return
  await database.exclusively(function* () {
    yield* run(createVersions)
    const current = yield* currentVersion()
    for (const [index, migration] of migrations.entries()) {
      if (index < current) continue
      const statements = 'length' in migration ? migration : migration[database.engine]
      for (const statement of statements) yield* run(statement)
      yield* run(recordVersion, index + 1, now)
    }
  })
}

/** For a look that changes nothing: refuses a database that a start would migrate first. */
export async function refuseOutdated(database: Database): Promise<void> {
  const current = await versionOf(database)
  if (current === 0)
    throw new OperatorError(
      'The database holds nothing of this service.',
      'Check DATABASE_URL; a new database is filled when the service starts.',
    )
  if (current < migrations.length)
    throw new OperatorError(
      `The database is at schema version ${current}; this program needs ${migrations.length}.`,
      'Start the service once: it migrates the database. Back it up before.',
    )
}

function versionOf(database: Database): Promise<number> {
  return database.look(currentVersion).catch((error: unknown) => {
    if (error instanceof MissingTable) return 0
    throw error
  })
}

function* currentVersion(): Work<number> {
  const [row] = yield* run(latestVersion)
  const current = row?.[0] ?? 0
  if (current > migrations.length)
    throw new OperatorError(
      `The database is at schema version ${current}, newer than this program's ${migrations.length}.`,
      'Run the newer version of the program that wrote it.',
    )
  return current
}
