import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { hasRightChecksum, withChecksum } from './format.ts'
import { KeyRing, SealError } from './key-ring.ts'
import { type Place, Tokens } from './tokens.ts'

function newTokens(): Tokens {
  return new Tokens(new KeyRing([randomBytes(32)]), randomBytes(32), 0)
}

const tokens = newTokens()
const now = Date.UTC(2026, 6, 1)
const { token, sealed } = tokens.mintForUserGroup(1, 23, now)

describe('what an earlier version has stored', () => {
  const same = new Tokens(new KeyRing([new Uint8Array(32).fill(7)]), new Uint8Array(32).fill(9), 0)

  it('opens, under the same name of the master key', () => {
    const bytes = Buffer.from('50bf9d426d3c011200a782d06e5e0c5a444165bae7ecb70d16b6f3486a5f47a9bafd5155b1a6', 'hex')
    assert.equal(same.openToken({ id: 2, teamId: 1, token: { keyId: 'dbbd9560', bytes } }), 'ugt_secret')
  })

  it('is found by the same hash', () => {
    const hash = 'df3fb167ba65f9335c5b06eacda6ea8224872c2c0393d944b7ce98c6bbbf4a75'
    assert.equal(Buffer.from(same.hash('ugt_secret')).toString('hex'), hash)
  })

  it('leads to the same group', () => {
    const { hash, groupId } = same.lookup('ugt_N2SWdROGNkRUoRutPD0YPmHVKCSYvwxF4H5QFH') ?? assert.fail()
    assert.deepEqual(
      [Buffer.from(hash).toString('hex'), groupId],
      ['b482b3952e37983304826992208958fc2feacd56', 189_934_051_328_123],
    )
  })
})

describe('a sealed user group token', () => {
  it('opens in its own row, as often as it is asked for', () => {
    for (let turn = 0; turn < 3; turn++) assert.equal(tokens.openToken({ id: 23, teamId: 1, token: sealed }), token)
  })

  it('opens to the new one once it is replaced', () => {
    const fresh = tokens.mintForUserGroup(1, 5, now)
    tokens.openToken({ id: 5, teamId: 1, token: tokens.sealToken(token, 1, 5) })
    assert.equal(tokens.openToken({ id: 5, teamId: 1, token: fresh.sealed }), fresh.token)
  })

  for (const [where, row] of [
    ['another group', { id: 24, teamId: 1 }],
    ['another team', { id: 23, teamId: 2 }],
    ['a row whose numbers read the same when run together', { id: 3, teamId: 12 }],
    ['the row with both numbers swapped', { id: 1, teamId: 23 }],
  ] as const)
    it(`does not open when moved to ${where}`, () =>
      assert.throws(() => tokens.openToken({ ...row, token: sealed }), SealError))

  it('does not open as a sealed value of another purpose', () => {
    const place: Place = { purpose: 'user_group.token', teamId: 1, id: 23 }
    assert.equal(tokens.open(sealed, place).toString(), token)
    assert.throws(() => tokens.open(sealed, { ...place, purpose: 'data_source.connection' }), SealError)
    assert.throws(() => tokens.open(sealed, { ...place, id: '23 ' }), SealError)
  })

  it('does not open with the keys of another database', () => {
    assert.throws(() => newTokens().openToken({ id: 23, teamId: 1, token: sealed }), SealError)
    assert.equal(tokens.canOpen(sealed.keyId), true)
    assert.equal(newTokens().canOpen(sealed.keyId), false)
  })
})

describe('what a token is found by', () => {
  const other = tokens.mintForUserGroup(2, 2 ** 53 - 1, now)
  const brought = 'a-token-from-another-system'

  it('is the group it was made for and a hash, the same every time, and only this database can tell', () => {
    for (const [{ token, sealed }, groupId] of [
      [tokens.mintForUserGroup(1, 23, now), 23],
      [other, 2 ** 53 - 1],
    ] as const)
      assert.partialDeepStrictEqual(tokens.lookup(token), { groupId, hash: sealed.hash })
    assert.notEqual(newTokens().lookup(token)?.groupId, 23)
    assert.notDeepEqual(newTokens().lookup(token)?.hash, sealed.hash)
    assert.notDeepEqual(tokens.mintForUserGroup(1, 23, now).sealed.hash, sealed.hash)
  })

  it('is the same when it is remembered, and is remembered for that token only', () => {
    for (let time = 0; time < 3; time++) {
      assert.partialDeepStrictEqual(tokens.recallLookup(token), { groupId: 23, hash: sealed.hash })
      assert.partialDeepStrictEqual(tokens.recallLookup(other.token), { hash: other.sealed.hash })
      assert.equal(tokens.recallLookup(`${token} `), undefined)
    }
  })

  it('is a hash alone for one that came along from another system', () => {
    const { longHash, ...found } = tokens.lookup(brought) ?? assert.fail()
    assert.deepEqual(found, { groupId: null, hash: tokens.hash(brought) })
    assert.deepEqual([longHash(), tokens.sealToken(brought, 1, 23).hash], [found.hash, found.hash])
  })

  it('is that hash too for one of ours that came along for another group', () => {
    assert.deepEqual(tokens.lookup(token)?.longHash(), tokens.hash(token))
    assert.deepEqual(tokens.sealToken(token, 1, 24).hash, tokens.hash(token))
  })

  it('is a hash alone for what looks like a token, and leads nowhere by a character that stands for no number', () => {
    const minted = Array.from({ length: 30 }, () => tokens.mintForUserGroup(1, 23, now).token)
    for (const [place, character] of [...'-_ é€\u{80}'].entries())
      for (const one of minted) {
        const secret = one.slice(0, 26 + place) + character + one.slice(27 + place, 36)
        const { groupId, hash } = tokens.lookup(withChecksum(secret)) ?? assert.fail()
        assert.deepEqual([groupId, hash], [null, tokens.hash(withChecksum(secret))])
      }
  })

  it('is a hash alone as long as a process may run that knows nothing else', () => {
    const later = new Tokens(new KeyRing([randomBytes(32)]), randomBytes(32), now)
    const before = later.mintForUserGroup(1, 23, now - 1)
    assert.deepEqual(before.sealed.hash, later.hash(before.token))
    assert.ok(hasRightChecksum(before.token, 'ugt_'))
    assert.equal(later.lookup(later.mintForUserGroup(1, 23, now).token)?.groupId, 23)
  })

  it('is not even made for what cannot be a user group token', () => {
    const mistyped = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    for (const text of [
      mistyped,
      token.slice(1, 10),
      `${token} `,
      '',
      'short',
      'x'.repeat(256),
      'sécret-sécret-sécret',
    ])
      assert.equal(tokens.lookup(text), undefined, text)
  })

  it('is made for an API token that an operator chose, with our prefix even', () => {
    for (const text of [tokens.mintForApi(), 'uga_chosen_by_an_operator', 'x'.repeat(16)])
      assert.deepEqual(tokens.lookupApiToken(text), tokens.hash(text))
    for (const text of ['', 'x'.repeat(15), `${'x'.repeat(20)} y`]) assert.equal(tokens.lookupApiToken(text), undefined)
  })
})
