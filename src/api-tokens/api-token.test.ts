import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type ApiToken, isUseNoted } from './api-token.ts'

it('the use of an API token is noted at once the first time, and every ten minutes from then on', () => {
  const minute = 60_000
  const noon = Date.UTC(2026, 0, 1, 12)
  const isNoted = (lastUsedAt: number | null) => isUseNoted({ lastUsedAt } as ApiToken, noon)
  assert.deepEqual([null, noon - 10 * minute, noon - 10 * minute + 1, noon].map(isNoted), [false, false, true, true])
})
