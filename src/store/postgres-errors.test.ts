import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import pg from 'pg'
import { ServiceError } from '../errors.ts'
import { UniqueViolation } from './database.ts'
import { retrying, translate, UnknownOutcome } from './postgres-errors.ts'

function ofServer(code: string): Error {
  return Object.assign(new pg.DatabaseError('as the server says', 18, 'error'), { code })
}

const outdated = Object.assign(ofServer('0A000'), { routine: 'RevalidateCachedQuery' })

function ofSocket(code: string): Error {
  return Object.assign(new Error('as the socket says'), { code })
}

describe('an error of PostgreSQL', () => {
  const faults = {
    'of a server that shuts down': ofServer('57P01'),
    'of a full disk': ofServer('53100'),
    'of a right taken away': ofServer('42501'),
    'of a table that is being restored': ofServer('42P01'),
    'of a statement the pooler forgot': ofServer('26000'),
    'of a table that got another column': outdated,
    'of a deadlock': ofServer('40P01'),
    'of a key retired just now': ofServer('23503'),
    'of a connection that broke': ofSocket('ECONNRESET'),
    'of a commit that was never answered': new UnknownOutcome(undefined),
    'of a silence': new Error('Query read timeout'),
  }
  for (const [what, error] of Object.entries(faults))
    it(`${what} is a fault of the moment`, () => {
      const told = translate(error)
      assert.ok(told instanceof ServiceError)
      assert.equal(told.code, 'unavailable')
      assert.equal(told.cause, error)
    })

  it('of a value that is there already is told apart', () => {
    assert.ok(translate(ofServer('23505')) instanceof UniqueViolation)
  })

  it('that is a bug of ours stays what it is', () => {
    for (const error of [ofServer('42601'), ofServer('22P02'), ofServer('0A000'), new TypeError('x is not a function')])
      assert.equal(translate(error), error)
  })

  it('is tried again when it is over with the connection or the other transaction, three times in all', async () => {
    for (const error of [ofServer('40001'), ofServer('57P01'), ofServer('26000'), outdated, ofSocket('EPIPE')]) {
      let tries = 0
      const failing = retrying(async () => {
        tries += 1
        throw error
      })
      await assert.rejects(failing, ServiceError)
      assert.equal(tries, 3)
    }
  })

  it('is not tried again when it would be the same, or may have happened', async () => {
    for (const error of [ofServer('53100'), ofServer('23505'), ofServer('0A000'), new UnknownOutcome(undefined)]) {
      let tries = 0
      const failing = retrying(async () => {
        tries += 1
        throw error
      })
      await assert.rejects(failing)
      assert.equal(tries, 1)
    }
  })
})
