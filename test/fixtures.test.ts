import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { currentVersion, fixtureFiles } from '../campaigns/fixture.ts'
import { engines } from './support/engines.ts'
import { times } from './support/times.ts'

describe('every migration', () => {
  for (const engine of engines)
    it(`has a database of its time on ${engine.name}, for all later versions to be tried on`, () => {
      assert.ok(currentVersion() > 0, 'the migrations were not found')
      const files = times(currentVersion(), (index) => Object.values(fixtureFiles(index + 1, engine))).flat()
      const missing = files.filter((file) => !existsSync(file))
      assert.deepEqual(missing, [], 'run "npm run fixture", and commit what it writes')
    })
})
