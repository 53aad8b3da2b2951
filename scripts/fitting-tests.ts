import { globSync } from 'node:fs'
import { basename } from 'node:path'

/** The tests that should notice a change to a file, those that take long last. The first row that fits counts. */
const fitting: readonly [source: RegExp, tests: readonly string[]][] = [
  [
    /^src\/tokens\//,
    [
      'src/tokens/*.test.ts',
      'test/store/teams-and-keys.test.ts',
      'test/store/verify.test.ts',
      'test/contract/rotate.test.ts',
    ],
  ],
  [/^src\/store\/postgres-url/, ['src/config.test.ts', 'test/processes/several-servers.test.ts']],
  [
    /^src\/store\/(open|sqlite|postgres|wal-index|migrations)/,
    [
      'src/store/*.test.ts',
      'test/store/*.test.ts',
      'test/processes/{refusals,races,restore,several-servers,pgbouncer}.test.ts',
      'test/team/freshness.test.ts',
    ],
  ],
  [
    /^src\/store\//,
    ['src/store/*.test.ts', 'test/store/*.test.ts', 'test/team/{list,search}.test.ts', 'test/tenancy.test.ts'],
  ],
  [
    /^src\/user-groups\//,
    [
      'test/openapi/document.test.ts',
      'test/contract/{get-or-create,get-or-create-fields,rotate,properties,errors}.test.ts',
      'test/team/{list,change,properties,strict-mapping,grace}.test.ts',
    ],
  ],
  [
    /^src\/verify\//,
    ['test/openapi/document.test.ts', 'test/team/{verify,grace}.test.ts', 'test/openapi/examples.test.ts'],
  ],
  [
    /^src\/http\/(metrics|connections|odd-requests|health|server)\.ts$/,
    [
      'src/http/*.test.ts',
      'test/contract/{connection,errors,clients,browser,broken-requests,large-answers}.test.ts',
      'test/processes/{start,workers,keys,shutdown}.test.ts',
      'test/team/freshness.test.ts',
      'test/openapi/document.test.ts',
    ],
  ],
  [
    /^src\/http\//,
    [
      'src/http/*.test.ts',
      'test/openapi/*.test.ts',
      'test/contract/{get-or-create,connection,browser,teams,clients,errors,rate-limits,authentication,broken-requests,large-answers}.test.ts',
    ],
  ],
]

export const mutated = 'src/{tokens,user-groups,http,store,verify}'

/** In the order in which to try them; `instead` names others. */
export function fittingTests(source: string, root: string, instead?: string): string[] {
  const patterns = instead === undefined ? fitting.find(([sources]) => sources.test(source))?.[1] : [instead]
  const tests = patterns?.flatMap((pattern) => globSync(pattern, { cwd: root }).sort()) ?? []
  if (tests.length === 0) throw new Error(`there is no test for ${source}`)
  // Those named like the file first: events.test.ts for events.ts.
  return tests.toSorted((one, other) => sharedWords(other, source) - sharedWords(one, source))
}

function sharedWords(test: string, source: string): number {
  const words = basename(source, '.ts').split('-')
  return basename(test, '.test.ts')
    .split('-')
    .filter((word) => words.some((each) => word.startsWith(each) || each.startsWith(word))).length
}
