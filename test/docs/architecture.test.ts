import assert from 'node:assert/strict'
import { globSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { inCode, read, root, rowsOf, tableIn, tables } from './markdown.ts'

const path = 'ARCHITECTURE.md'

describe('ARCHITECTURE.md', () => {
  it('has a line for every folder and file directly in src/', () => {
    const listed = rowsOf(tableIn(path, 'Place', 'What is there')).map(([place]) => place)
    const there = readdirSync(join(root, 'src'), { withFileTypes: true })
      .filter((entry) => !entry.name.endsWith('.test.ts'))
      .filter((entry) => entry.isFile() || globSync(`src/${entry.name}/**/*.ts`, { cwd: root }).length > 0)
      .map((entry) => inCode(`src/${entry.name}${entry.isDirectory() ? '/' : ''}`))
    assert.deepEqual(
      there.filter((place) => !listed.includes(place)),
      [],
    )
  })

  it('says of every dependency why it is there', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'))
    const explained = tables(read(path))
      .filter((text) => text.startsWith('| Package '))
      .map((text) => rowsOf(text).map(([name]) => name))
    assert.deepEqual(explained, [Object.keys(dependencies).map(inCode), Object.keys(devDependencies).map(inCode)])
  })
})
