import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { KeyRing, SealError } from './key-ring.ts'
import { type Place, Tokens } from './tokens.ts'

function newTokens(): Tokens {
  return new Tokens(new KeyRing([randomBytes(32)]), randomBytes(32))
}

const tokens = newTokens()
const token = tokens.mintForUserGroup()
const sealed = tokens.sealToken(token, 1, 23)

describe('what an earlier version has stored', () => {
  const same = new Tokens(new KeyRing([new Uint8Array(32).fill(7)]), new Uint8Array(32).fill(9))

  it('opens, under the same name of the master key', () => {
    const bytes = Buffer.from('50bf9d426d3c011200a782d06e5e0c5a444165bae7ecb70d16b6f3486a5f47a9bafd5155b1a6', 'hex')
    assert.equal(same.openToken({ id: 2, teamId: 1, token: { keyId: 'dbbd9560', bytes } }), 'ugt_secret')
  })

  it('is found by the same hash', () => {
    const hash = 'df3fb167ba65f9335c5b06eacda6ea8224872c2c0393d944b7ce98c6bbbf4a75'
    assert.equal(Buffer.from(same.hash('ugt_secret')).toString('hex'), hash)
  })
})

describe('a sealed user group token', () => {
  it('opens in its own row, as often as it is asked for', () => {
    for (let turn = 0; turn < 3; turn++) assert.equal(tokens.openToken({ id: 23, teamId: 1, token: sealed }), token)
  })

  it('opens to the new one once it is replaced', () => {
    const fresh = tokens.mintForUserGroup()
    tokens.openToken({ id: 5, teamId: 1, token: tokens.sealToken(token, 1, 5) })
    assert.equal(tokens.openToken({ id: 5, teamId: 1, token: tokens.sealToken(fresh, 1, 5) }), fresh)
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

describe('the hash a token is found by', () => {
  it('is the same every time, and only this database can make it', () => {
    assert.deepEqual(tokens.lookup(token), sealed.hash)
    assert.deepEqual(tokens.hash(token), sealed.hash)
    assert.notDeepEqual(newTokens().lookup(token), sealed.hash)
    assert.notDeepEqual(tokens.lookup(tokens.mintForUserGroup()), sealed.hash)
  })

  it('is the same when it is remembered, and is remembered for that token only', () => {
    const other = tokens.mintForUserGroup()
    for (let time = 0; time < 3; time++) {
      assert.deepEqual(tokens.recallLookup(token), sealed.hash)
      assert.deepEqual(tokens.recallLookup(other), tokens.hash(other))
      assert.equal(tokens.recallLookup(`${token} `), undefined)
    }
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

  it('is made for a token that came along from another system', () => {
    assert.deepEqual(tokens.lookup('a-token-from-another-system'), tokens.hash('a-token-from-another-system'))
  })

  it('is made for an API token that an operator chose, with our prefix even', () => {
    for (const text of [tokens.mintForApi(), 'uga_chosen_by_an_operator', 'x'.repeat(16)])
      assert.deepEqual(tokens.lookupApiToken(text), tokens.hash(text))
    for (const text of ['', 'x'.repeat(15), `${'x'.repeat(20)} y`]) assert.equal(tokens.lookupApiToken(text), undefined)
  })
})
