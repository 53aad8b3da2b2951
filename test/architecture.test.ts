import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Import, importCycles, type SourceFile, sourceFiles } from './support/source-files.ts'

interface Kind {
  name: string
  is(file: SourceFile): boolean
  /** What it may import; a pattern behind `types` only for its types. */
  may: { import: RegExp; types?: RegExp }
  inWords: string
  because: string
}

const feature = /^src\/(?!commands\/|http\/|store\/|tokens\/)[\w-]+\//
const pureFiles =
  /^src\/(errors|json|ids|clock|did-you-mean|one-by-one|operator-error|quick-hash|recent|soon|together)\.ts$/
/** Of Node, what neither reads nor writes anything outside the process. */
const harmless = 'node:(crypto|zlib|buffer|path|util)'

/** Of Node, what reaches another machine or program. node:http is only to listen with. */
const outward = /^node:(child_process|dgram|dns|http2|https|inspector|net|tls|vm)\b/

/** ARCHITECTURE.md's table of who may import what. A file is of the first kind that fits it. */
const kinds: Kind[] = [
  {
    name: 'a rule',
    is: ({ path }) => pureFiles.test(path) || path.startsWith('src/tokens/'),
    may: {
      import: new RegExp(
        `^(${harmless}|src/(errors|json|ids|clock|did-you-mean|one-by-one|operator-error|quick-hash|recent|soon|together)\\.ts|src/tokens/.*)$`,
      ),
    },
    inWords:
      'other rules (errors, json, ids, clock, soon, recent, together, one-by-one, tokens/) and what of Node does no input or output',
    because: 'rules are pure, so that they can be read, tested and trusted without a database or a socket',
  },
  {
    name: 'a schema',
    is: ({ path }) => feature.test(path) && path.endsWith('/schema.ts'),
    may: {
      import:
        /^(src\/http\/(type|fields)\.ts|src\/(errors|json|clock)\.ts|src\/(?!commands|http|store)[\w-]+\/[\w-]+\.ts)$/,
      types: /^typebox$/,
    },
    inWords: 'http/type and fields, the rules, and the schemas of other folders; types of typebox',
    because: 'it says what goes in and out, and the documentation is made from it without a running service',
  },
  {
    name: 'an operation',
    is: (file) => feature.test(file.path) && imports(file, 'src/http/operation.ts'),
    may: {
      import:
        /^(src\/http\/(operation|type|fields|paging)\.ts|src\/(errors|json|ids|clock|soon|tokens\/format)\.ts|src\/[\w-]+\/schema\.ts|OWN_FOLDER\/[\w-]+\.ts)$/,
      types: /^(typebox|src\/(store\/store|(?!commands|http|store)[\w-]+\/[\w-]+)\.ts)$/,
    },
    inWords:
      "its own folder's rules, schemas, http/operation, type, fields and paging, errors, json, ids, clock, soon, tokens/format; types of typebox, store/store.ts and rules",
    because: 'a request makes three hops, operation → rule → store, and one file shows how an operation works',
  },
  {
    name: 'a rule of its folder',
    is: ({ path }) => feature.test(path),
    may: {
      import: new RegExp(`^(${harmless}|src/(errors|json|ids|clock)\\.ts|src/tokens/.*|OWN_FOLDER/[\\w-]+\\.ts)$`),
      types: /^src\/(?!commands|http|store)[\w-]+\/[\w-]+\.ts$/,
    },
    inWords: 'errors, json, ids, clock, tokens/ and its own folder; of other folders only types',
    because: 'rules are pure, so that they can be read, tested and trusted without a database or a socket',
  },
  {
    name: 'a part of the store',
    is: ({ path }) => path.startsWith('src/store/'),
    may: {
      import:
        /^(node:.*|pg|src\/(store|tokens)\/.*|src\/(errors|one-by-one|operator-error|json|quick-hash|soon|together)\.ts|src\/[\w-]+\/(user-group|api-token|team|data-source|data-schema|event)\.ts)$/,
      types: /^src\/clock\.ts$/,
    },
    inWords: 'the store, tokens/, the rules, node:*, pg',
    because: 'the store keeps rows and decides races; what they mean is decided by rules, before or after it',
  },
  {
    name: 'a part of the HTTP layer',
    is: ({ path }) => path.startsWith('src/http/'),
    may: {
      import:
        /^(node:.*|typebox\/schema|prom-client|src\/(http|tokens)\/.*|src\/(?!app|main|operations|config|service)[\w-]+\.ts|src\/(?!commands|store)[\w-]+\/[\w-]+\.ts)$/,
      types: /^(pino|typebox|src\/(service\.ts|store\/.*))$/,
    },
    inWords: 'rules, http/, typebox/schema, prom-client; of typebox, pino, the service and the store only types',
    because: 'it is handed an open service, so that tests build the same app as the command does',
  },
  {
    name: 'what puts the service together',
    is: ({ path }) => /^src\/(config|first-tick|history|master-key|memory|unlock|service|version)\.ts$/.test(path),
    may: { import: /^(node:.*|src\/(?!app|main|operations)[\w-]+\.ts|src\/(store|tokens)\/.*)$/ },
    inWords: 'node:*, the rules, the store, the tokens and each other',
    because: 'commands open the service without HTTP, and the app is handed an open one',
  },
  {
    name: 'the top',
    is: ({ path }) => /^src\/(app|main|operations)\.ts$|^src\/commands\//.test(path),
    may: { import: /./ },
    inWords: 'everything',
    because: 'somebody has to know all the others',
  },
]

function imports(file: SourceFile, path: string): boolean {
  return file.imports.some(({ from, onlyTypes }) => from === path && !onlyTypes)
}

function isAllowed({ may }: Kind, { path }: SourceFile, { from, onlyTypes }: Import): boolean {
  const own = path.slice(0, path.lastIndexOf('/'))
  const fits = (pattern: RegExp) => new RegExp(pattern.source.replaceAll('OWN_FOLDER', own)).test(from)
  return fits(may.import) || (onlyTypes && may.types !== undefined && fits(may.types))
}

const files = sourceFiles('src')

/** All that is loaded before the first line of the file runs. */
function loadedWith(path: string, loaded = new Set<string>()): Set<string> {
  const { imports = [] } = files.find((file) => file.path === path) ?? {}
  for (const { from, onlyTypes, onDemand } of imports) {
    if (onlyTypes || onDemand || loaded.has(from)) continue
    loadedWith(from, loaded.add(from))
  }
  return loaded
}

/** Fails with all offenders at once, and the rule they break. */
function none(offenders: readonly string[], rule: string): void {
  assert.ok(offenders.length === 0, `\n${offenders.map((line) => `  ${line}\n`).join('')}${rule}`)
}

describe('the source', () => {
  it('has a place in the table of allowed imports for every file', () => {
    assert.ok(files.length > 40, 'the source files were not found')
    const homeless = files.filter((file) => !kinds.some((kind) => kind.is(file))).map(({ path }) => path)
    none(homeless, 'Put them into a folder of the table in test/architecture.test.ts, or add a kind to it.')
  })

  for (const kind of kinds)
    it(`imports into ${kind.name} only ${kind.inWords}`, () => {
      const offenders = files
        .filter((file) => kinds.find((candidate) => candidate.is(file)) === kind)
        .flatMap((file) => file.imports.filter((each) => !isAllowed(kind, file, each)).map((each) => ({ file, each })))
        .map(({ file, each }) => `${file.path} imports ${each.from}${each.onlyTypes ? ' (types)' : ''}`)
      none(offenders, `${kind.name} may import ${kind.inWords}: ${kind.because}. See the table in ARCHITECTURE.md.`)
    })

  it('imports nothing in a circle', () => {
    const circles = importCycles(files).map((cycle) => cycle.join(' → '))
    none(circles, 'Move what both sides need into a third file: files in a circle can only be understood together.')
  })

  it('starts every command without what only some need', () => {
    const packages = [...loadedWith('src/main.ts')].filter((from) => !/^(src\/|node:)/.test(from))
    assert.deepEqual(packages, ['commander'])
  })

  it('reads the environment in config.ts alone, which commands hand it to', () => {
    const offenders = files.flatMap(({ path, text }) => {
      const rest = path.startsWith('src/commands/') ? text.replaceAll('readConfig(process.env)', '') : text
      // A convention of terminals, not a setting of the service.
      const known = path === 'src/commands/explain.ts' ? rest.replaceAll('process.env.NO_COLOR', '') : rest
      return /\bprocess\s*(\?\.|\.|\[\s*['"`])\s*env\b|\benv\b[^\n]*=\s*process\b|'(node:)?process'/.test(known)
        ? [path]
        : []
    })
    none(offenders, 'Add a setting to config.ts and take it from Config: only commands say readConfig(process.env).')
  })

  it('sends no requests, starts no programs and makes no code from text: it talks to its database alone', () => {
    const offenders = files.flatMap(({ path, text, imports }) => [
      ...imports
        .filter(({ from, onlyTypes }) => outward.test(from) && !onlyTypes)
        .map(({ from }) => `${path} imports ${from}`),
      ...(
        text.match(
          /\b(fetch|eval|Function)\(|\b(WebSocket|EventSource)\b|\{[^}]*\b(request|get)\b[^}]*\} (from |= .*\()'node:http'/g,
        ) ?? []
      ).map((found) => `${path} has ${found}`),
    ])
    none(offenders, 'A caller must not be able to make the service reach for anything. Let a program beside it do so.')
  })

  it('takes node:http from http/node-http.ts alone, and nothing else without an import', () => {
    const offenders = files
      .filter(({ path }) => path !== 'src/http/node-http.ts')
      .flatMap(({ path, text, imports }) => [
        ...imports
          .filter(({ from, onlyTypes }) => from === 'node:http' && !onlyTypes)
          .map(({ from }) => `${path} imports ${from}`),
        ...(text.match(/getBuiltinModule|createRequire/g) ?? []).map((found) => `${path} has ${found}`),
      ])
    none(offenders, 'An import of it takes 4 MB more. Without an import, nobody sees what a file uses.')
  })

  it('has no default exports: a thing has one name everywhere', () => {
    const offenders = files.filter(({ text }) => /^export default\b|\bas default\b/m.test(text)).map(({ path }) => path)
    none(offenders, 'Export it by its name.')
  })

  it('has no barrel files: an import names the file where a thing is', () => {
    const offenders = files.filter(({ path, text }) => {
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      const own = code
        .replaceAll(/^(import|export)\b[^'"`;]*?from\s+'[^']+'/gm, '')
        .replaceAll(/^export (type )?\{[^}]*\}/gm, '')
      return /\/index\.ts$/.test(path) || /^export \*/m.test(code) || own.trim() === ''
    })
    none(
      offenders.map(({ path }) => path),
      'Import each thing from the file that holds it, and delete this one.',
    )
  })

  it('has no file over 300 lines: that is two ideas', () => {
    const offenders = files
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > 300)
      .map(({ path, lines }) => `${path} has ${lines} lines`)
    none(offenders, 'Find the two ideas in it and give each a file named after what it holds.')
  })
})

describe('the client', () => {
  it('takes nothing from the service but types', () => {
    const offenders = sourceFiles('client').flatMap(({ path, imports }) =>
      imports
        .filter(({ from, onlyTypes }) => from.startsWith('src/') && !onlyTypes)
        .map(({ from }) => `${path} imports ${from}`),
    )
    none(offenders, 'The client is a package of its own, without dependencies: say "import type".')
  })
})
