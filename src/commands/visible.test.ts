import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { explain } from './explain.ts'
import { table } from './table.ts'
import { visible } from './visible.ts'

/** Clears the screen, rings, and turns the rest of the line around. */
const hostile = '\x9b2J\x9d0;title\x9c\x7f\u202eemca\u2066'

describe('a text of others on a terminal', () => {
  it('is shown without acting on it, in a table and in an error too', () => {
    const harmless = /^[\x20-\x7e\n]+$/
    assert.match(visible(hostile), harmless)
    assert.match(table(['ID'], [[hostile]]), harmless)
    assert.match(explain(new Error(hostile)), harmless)
  })

  it('stays the same text in JSON', () => {
    const value = { [hostile]: [hostile, 'Zoë 日本 🇩🇪 שלום'] }
    assert.deepEqual(JSON.parse(visible(JSON.stringify(value))), value)
  })
})
