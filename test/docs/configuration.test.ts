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

/** In the example of what a bad setting is answered with. */
const misspelledOnPurpose = ['UGS_RATE_LIMT']
