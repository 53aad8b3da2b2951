import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  allowScripts?: Record<string, boolean>
}

interface Locked {
  version?: string
  resolved?: string
  integrity?: string
  license?: string
  hasInstallScript?: boolean
  link?: boolean
  /** Differs from the folder when one package is installed under the name of another. */
  name?: string
}

const root = fileURLToPath(new URL('..', import.meta.url))
const licences = ['Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT OR Apache-2.0']
const publicRegistry = 'https://registry.npmjs.org/'

const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const declaredIn = ({ dependencies = {}, devDependencies = {} }: Manifest) => ({ ...dependencies, ...devDependencies })
const manifests = globSync('**/package.json', { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
const folders = manifests.map(dirname).filter((folder) => {
  return Object.keys(declaredIn(readJson(join(folder, 'package.json')))).length > 0
})

describe('the dependencies', () => {
  it('are declared in the service, the benchmark and the run times of the client’s tests, and nowhere else', () => {
    assert.deepEqual(folders.sort(), ['.', 'bench', 'test/client/run-times'])
  })

  for (const folder of folders)
    describe(`of ${folder}`, () => {
      const manifest: Manifest = readJson(join(folder, 'package.json'))
      const { packages } = readJson(join(folder, 'package-lock.json')) as { packages: Record<string, Locked> }
      const { '': own = {}, ...others } = packages
      const locked = Object.entries(others)

      it('have exact versions, and the lockfile has the same', () => {
        const declared = declaredIn(manifest)
        for (const [name, version] of Object.entries(declared)) {
          assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name)
          assert.equal(others[`node_modules/${name}`]?.version, version, name)
        }
        assert.deepEqual(declaredIn(own as Manifest), declared)
      })

      it('come from the registry, each with the hash of what was reviewed', () => {
        assert.ok(locked.length > 20, 'the lockfile was not read')
        for (const [path, { version, resolved, integrity, link, name }] of locked) {
          assert.ok(path.startsWith('node_modules/') && !link && name === undefined, `${path} is another package`)
          assert.match(version ?? '', /^\d/, path)
          // Without an address, npm takes the registry it is told to; the hash holds for any.
          assert.ok(resolved === undefined || resolved.startsWith(publicRegistry), `${path} comes from ${resolved}`)
          assert.match(integrity ?? '', /^sha512-[\w+/]{86}==$/, path)
        }
      })

      it('run a script at their installation only where it was reviewed', () => {
        const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript)
        const names = scripted.map(([path]) => path.slice('node_modules/'.length))
        const reviewed = Object.entries(manifest.allowScripts ?? {}).filter(([, allowed]) => allowed)
        assert.deepEqual(names.sort(), reviewed.map(([name]) => name).sort())
      })

      it('have licences that let anybody use them', () => {
        const strange = locked.filter(([, { license = 'none' }]) => !licences.includes(license))
        assert.deepEqual(
          strange.map(([path, { license }]) => `${path}: ${license}`),
          [],
        )
      })
    })
})

describe('the package', () => {
  it('holds what runs in production, and no test, campaign or benchmark', () => {
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
    })
    const [{ files }] = JSON.parse(stdout)
    const places = files.map(({ path }: { path: string }) => path.replace(/\/.*/, '/'))
    assert.ok(places.includes('bin/'))
    for (const place of places) assert.match(place, /^(bin\/|dist\/|docs\/|[A-Z]+\.md|LICENSE|package\.json)$/)
  })
})

describe('scripts/audit.mjs', () => {
  for (const [severity, status] of [
    ['critical', 1],
    ['high', 1],
    ['moderate', 0],
  ] as const)
    it(`exits with ${status} when the registry knows of a ${severity} vulnerability`, async (t) => {
      const { code, stderr } = await audit(t, { pg: [advisory(severity)] })
      assert.equal(code, status, stderr)
      assert.match(stderr, new RegExp(`${severity}: pg `))
    })

  it('exits with 0 when the registry knows of none, and when it does not answer', async (t) => {
    const clean = await audit(t, {})
    assert.deepEqual([clean.code, /\b0 known/.test(clean.stderr)], [0, true], clean.stderr)
    const silent = await audit(t, undefined)
    assert.deepEqual([silent.code, /no answer/.test(silent.stderr)], [0, true], silent.stderr)
  })
})

function advisory(severity: string) {
  const cvss = { score: 0, vectorString: null }
  return { id: 1, url: 'https://example.com/1', title: 'A hole', severity, vulnerable_versions: '>=8', cwe: [], cvss }
}

/** Answers what npm asks a registry for an audit: the advisories, and of some packages the versions there are. */
async function fakeRegistry(context: TestContext, advisories: object | undefined): Promise<string> {
  const server = createServer(({ method, url = '' }, response) => {
    const name = decodeURIComponent(url.slice(1))
    const versions = { '1.0.0': { name, version: '1.0.0' } }
    const answer = method === 'POST' ? advisories : { name, versions, 'dist-tags': { latest: '1.0.0' } }
    response.writeHead(answer === undefined ? 405 : 200).end(JSON.stringify(answer ?? {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function audit(context: TestContext, advisories: object | undefined) {
  // npm remembers advisories: not among those of whoever runs this test.
  const cache = mkdtempSync(join(tmpdir(), 'ugs-npm-'))
  context.after(() => rmSync(cache, { recursive: true, force: true }))
  const registry = await fakeRegistry(context, advisories)
  const child = spawn(process.execPath, ['scripts/audit.mjs'], {
    cwd: root,
    env: { ...process.env, npm_config_registry: registry, npm_config_cache: cache },
  })
  const [stderr, [code]] = await Promise.all([
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'close') as Promise<[number]>,
  ])
  return { code, stderr: stderr.join('') }
}
