import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { progressLine } from './progress-bar.ts'

describe('the line of a progress bar', () => {
  const half = (columns: number) => progressLine('Importing', 600, 1_200, String, columns)

  it('has a bar as long as there is room for one', () => {
    assert.equal(half(80), `Importing ${'█'.repeat(15)}${'░'.repeat(15)} 50 % (600 of 1200)`)
    assert.equal(half(40), 'Importing █████░░░░░ 50 % (600 of 1200)')
    assert.equal(half(34), 'Importing 50 % (600 of 1200)')
  })

  it('stays on one line of any terminal', () => {
    for (let columns = 1; columns < 100; columns += 1) assert.ok(half(columns).length < columns, `${columns}`)
  })

  it('counts in the unit it is given, and is full where there is nothing to do', () => {
    const megabytes = (bytes: number) => `${bytes / 1e6} MB`
    assert.match(progressLine('Importing', 1e6, 4e6, megabytes, 80), / 25 % \(1 MB of 4 MB\)$/)
    assert.match(progressLine('Sealing', 0, 0, String, 80), / █{30} 100 % \(0 of 0\)$/)
  })
})
