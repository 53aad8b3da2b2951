import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openedTwice } from '../../test/support/opened-twice.ts'
import { WalIndex } from './wal-index.ts'

function indexed(t: TestContext) {
  const opened = openedTwice(t)
  return { ...opened, index: new WalIndex(opened.path) }
}

describe('the version of a file of SQLite', () => {
  it('stays the same while nobody commits, and is another after each commit', (t) => {
    const { index, own, other, write } = indexed(t)
    const first = index.version()
    own.exec('select * from note; begin; insert into note values (1); rollback')
    assert.equal(index.version(), first)
    write(own)
    const second = index.version()
    assert.notEqual(second, first)
    write(other)
    assert.notEqual(index.version(), second)
  })

  it('stays the same after a commit that is passed over, also where the log begins anew', (t) => {
    const { index, own, write } = indexed(t)
    const version = index.version()
    for (let round = 0; round < 5; round++) {
      own.exec('begin immediate')
      write(own)
      index.passOver(() => own.exec('commit'))
      assert.equal(index.version(), version)
      own.exec('pragma wal_checkpoint(full)')
    }
  })

  for (const [when, before, behind] of [
    ['before', true, false],
    ['behind', false, true],
    ['before and behind', true, true],
  ] as const)
    it(`is another when somebody else has committed ${when} one that is passed over`, (t) => {
      const { index, own, other, write } = indexed(t)
      const version = index.version()
      if (before) write(other)
      own.exec('begin immediate')
      write(own)
      index.passOver(() => {
        own.exec('commit')
        if (behind) write(other)
      })
      assert.notEqual(index.version(), version)
    })

  it('is another when somebody else has committed behind one that was to be passed over and failed', (t) => {
    const { index, own, other, write } = indexed(t)
    const version = index.version()
    own.exec('begin immediate')
    write(own)
    assert.throws(() =>
      index.passOver(() => {
        own.exec('rollback')
        write(other)
        throw new Error('the disk is full')
      }),
    )
    assert.notEqual(index.version(), version)
  })
})
