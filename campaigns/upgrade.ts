import type { Campaign, Rewrite } from './campaign.ts'
import { currentVersion, readFixture } from './fixture.ts'
import { oldPrograms } from './old-version.ts'
import { onBothEngines } from './on-both-engines.ts'
import { workTogether } from './rolling-upgrade.ts'
import { assertServed } from './served-fixture.ts'

/** One migration more, behind those that there are. */
function plantedMigration(statement: string, engines = ['sqlite', 'postgres']): Rewrite[] {
  const file = 'store/migrations/migrate.ts'
  const planted = engines.map((engine) => `${engine}: [sql\`${statement}\`]`).join(', ')
  return [
    { file, find: 'const migrations:', replace: 'const honest:' },
    {
      file,
      find: 'const createVersions =',
      replace: `const migrations = [...honest, { sqlite: [], postgres: [], ${planted} }]\nconst createVersions =`,
    },
  ]
}

export const upgrade: Campaign = {
  promise:
    'A database of any earlier version is served with all that is in it, and processes of an old and of this version work together on one without losing anything.',
  unit: 'rounds on each engine',
  full: 50,
  brief: 1,
  bugs: {
    'a migration that forgets': {
      shows: /is not answered as at version/,
      rewrites: plantedMigration('delete from former_token'),
    },
    'a migration after which nobody finds the tokens of rotations': {
      shows: /cannot be rotated|are not those that can be found/,
      rewrites: plantedMigration('drop trigger token_replaced', ['sqlite']),
    },
    'tokens that old processes do not find': {
      shows: /the old version does not find a token of the new one/,
      rewrites: [{ file: 'store/migrations/migrate.ts', find: 'leads + transition', replace: '0' }],
    },
    'a migration that renames what old processes use': {
      shows: /a process of the old version failed/,
      rewrites: [
        ...plantedMigration('alter table event rename column renamed_to to new_name'),
        { file: 'store/events.ts', find: 'subject, renamed_to, detail)', replace: 'subject, new_name, detail)' },
        { file: 'store/event-list.ts', find: 'renamed_to, detail from', replace: 'new_name, detail from' },
        { file: 'store/event-list.ts', find: 'or renamed_to = $4', replace: 'or new_name = $4' },
      ],
    },
  },
  async run({ size, random, engines, environment, progress }) {
    for (let version = 1; version <= currentVersion(); version++)
      await onBothEngines({ engines, environment }, (premises, engine) =>
        assertServed(premises, readFixture(version, engine)),
      )
    const served = `a database of each of ${currentVersion()} versions served on both engines`

    const olds = oldPrograms(size)
    let kept = 0
    for (let round = 1; round <= size; round++) {
      const old = olds.programs[round % olds.programs.length]
      const groups = await onBothEngines({ engines, environment }, (premises) => workTogether(premises, old, random))
      kept += groups.reduce((a, b) => a + b)
      progress(round)
    }
    return `${served}; ${size} rounds of an old process (${olds.inWords}) and a new one on each engine with a kill in each, ${kept} groups looked at afterwards, 0 lost`
  },
}
