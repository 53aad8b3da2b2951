import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { chiSquare } from '../../test/support/chi-square.ts'
import { mintBeginning } from './format.ts'
import { keyedHash } from './keyed-hash.ts'
import { Leads } from './leads.ts'

const newLeads = () => new Leads(keyedHash(randomBytes(32)))
const leads = newLeads()

describe('the lead of a token', () => {
  it('is ten letters and digits, from which any id can be told again, with the same hash', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (groupId) => {
        const beginning = mintBeginning()
        const { lead, hash } = leads.write(beginning, groupId)
        assert.match(lead, /^[0-9A-Za-z]{10}$/)
        assert.equal(hash.length, 20)
        assert.deepEqual(leads.read({ beginning, lead }), { hash, groupId })
      }),
    )
  })

  it('of the same group is another in every token, and each character is equally likely at every place', () => {
    const many = 6_000
    const written = Array.from({ length: many }, () => leads.write(mintBeginning(), 23).lead)
    assert.equal(new Set(written).size, many)
    for (let place = 0; place < 10; place++) {
      // With 61 degrees of freedom, 160 is exceeded by chance once in 10^10 runs.
      const distance = chiSquare(written.map((lead) => lead[place] ?? ''))
      assert.ok(distance < 160, `place ${place}: ${distance}`)
    }
  })

  it('leads a hundredth of the tokens of others to an id at all', () => {
    const others = newLeads()
    const told = Array.from({ length: 20_000 }, () =>
      leads.read({ beginning: mintBeginning(), lead: others.write(mintBeginning(), 0).lead }),
    )
    const ids = told.flatMap((key) => key?.groupId ?? [])
    assert.ok(ids.length > 100 && ids.length < 400, `${ids.length}`)
    for (const id of ids) assert.ok(Number.isSafeInteger(id) && id >= 0)
  })

  it('tells another group once a single character of the token is another', () => {
    const beginning = mintBeginning()
    const { lead, hash } = leads.write(beginning, 23)
    const alter = (text: string, place: number) => {
      return text.slice(0, place) + (text[place] === 'a' ? 'b' : 'a') + text.slice(place + 1)
    }
    for (let place = 0; place < beginning.length; place++) {
      const told = leads.read({ beginning: alter(beginning, place), lead })
      assert.notDeepEqual(told?.hash, hash)
      assert.notEqual(told?.groupId, 23)
    }
    for (let place = 0; place < lead.length; place++)
      assert.notEqual(leads.read({ beginning, lead: alter(lead, place) })?.groupId, 23)
  })

  it('leads nowhere without the key', () => {
    const beginning = mintBeginning()
    assert.notEqual(newLeads().read({ beginning, lead: leads.write(beginning, 23).lead })?.groupId, 23)
  })
})
