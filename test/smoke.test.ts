import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { engines } from './support/engines.ts'
import { running } from './support/running.ts'

for (const engine of engines)
  describe(`the service on ${engine.name}`, () => {
    it('creates, finds and rotates', async (t) => {
      const { caller, service } = await running(t, engine)
      const made = await caller.getOrCreate('acme')
      assert.equal(made.body.new_user_group, true)
      const rotated = await caller.rotate(made.body.user_group.token)
      assert.equal(rotated.status, 200)
      const found = await caller.getOrCreate('acme')
      assert.deepEqual(found.body, { success: 1, new_user_group: false, user_group: rotated.body.user_group })
      assert.equal((await caller.rotate(made.body.user_group.token)).status, 409)
      assert.equal(await service.stop(), 0)
    })
  })
