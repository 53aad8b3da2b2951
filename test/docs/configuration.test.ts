import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Setting, settings } from '../../src/config.ts'
import { inCode, read, rowsOf, table, tableIn } from './markdown.ts'

const all: readonly Setting[] = settings

describe('docs/configuration.md', () => {
  it('shows the table of settings that src/config.ts declares', () => {
    const headings = ['Setting', 'Default', 'Meaning']
    const declared = all.map((setting) => [inCode(setting.name), setting.default, setting.description])
    assert.equal(tableIn('docs/configuration.md', ...headings), table(headings, declared))
  })

  it('names no setting that does not exist', () => {
    const named = read('docs/configuration.md').match(/\bUGS_[A-Z_]+\b/g) ?? []
    const known = new Set(all.map(({ name }) => name))
    assert.deepEqual([...new Set(named)].filter((name) => !known.has(name)).sort(), misspelledOnPurpose)
  })
})

describe('the settings in README.md', () => {
  it('are settings, with their defaults', () => {
    for (const [name = '', byDefault] of rowsOf(tableIn('README.md', 'Setting', 'Default', 'What for'))) {
      const setting = all.find((candidate) => inCode(candidate.name) === name)
      assert.ok(setting, `${name} is no setting`)
      assert.equal(byDefault, setting.default, name)
    }
  })
})

describe('compose.yaml', () => {
  it('passes every setting on, but for those that the image has, as an empty one would take their place', () => {
    const named = [...read('compose.yaml').matchAll(/^ {6}([A-Z_]+): \S/gm)].map(([, name]) => name)
    const missing = all.map(({ name }) => name).filter((name) => !named.includes(name))
    assert.deepEqual(missing, ['PORT', 'HOST', 'UGS_MASTER_KEY_FILE'])
    assert.match(read('Dockerfile'), /^ENV .*HOST=0\.0\.0\.0 PORT=8080 /m)
  })
})

/** In the example of what a bad setting is answered with. */
const misspelledOnPurpose = ['UGS_RATE_LIMT']
