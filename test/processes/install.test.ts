import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { root } from '../docs/markdown.ts'

describe('what "npm start" does first', () => {
  let folder: string
  const run = (command: string, args: string[], environment = {}) =>
    execFileSync(command, args, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  const install = (environment = {}) => run(process.execPath, [join(root, 'scripts/install.mjs')], environment)
  const installed = () => JSON.parse(readFileSync(join(folder, 'node_modules/tool/package.json'), 'utf8')).version

  /** A checkout that names this version of the one package it needs, a development dependency. */
  const nameVersion = (version: string) => {
    writeFileSync(join(folder, 'tool/package.json'), JSON.stringify({ name: 'tool', version }))
    run('npm', ['pack', './tool'])
    const devDependencies = { tool: `file:tool-${version}.tgz` }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'checkout', version: '1.0.0', devDependencies }))
    run('npm', ['install', '--package-lock-only'])
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ugs-install-'))
    mkdirSync(join(folder, 'tool'))
    nameVersion('1.0.0')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('installs development dependencies, as Node is one, even with NODE_ENV=production and after an npm ci without them', () => {
    const production = { NODE_ENV: 'production' }
    install(production)
    assert.equal(installed(), '1.0.0')
    run('npm', ['ci'], production)
    assert.ok(!existsSync(join(folder, 'node_modules/tool')))
    install(production)
    assert.equal(installed(), '1.0.0')
  })

  it('leaves alone what npm ci has installed, and replaces it once the lockfile names something else', () => {
    run('npm', ['ci'])
    const witness = join(folder, 'node_modules/witness')
    writeFileSync(witness, '')
    install()
    assert.ok(existsSync(witness), 'npm ci would have deleted it')
    nameVersion('2.0.0')
    install()
    assert.equal(installed(), '2.0.0')
  })
})
