import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { type Answer, Caller } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { commandsBeside } from './commands.ts'
import { assertError, assertFound, assertRotated } from './expectations.ts'

for (const engine of engines)
  describe(`two teams on ${engine.name}`, async () => {
    const { caller: ours, service, environment } = await running(undefined, engine)
    const { makeTeam, makeApiToken } = commandsBeside(environment)
    const otherTeam = await makeTeam('The others')
    const theirs = new Caller(service.url, (await makeApiToken('--team', String(otherTeam))).token)
    after(() => theirs.close())

    it('have groups of their own under the same id', async () => {
      const id = randomUUID()
      const our = await ours.getOrCreate(id, { name: 'Ours' })
      const their = await theirs.getOrCreate(id, { name: 'Theirs' })
      assertFound(our, true)
      assertFound(their, true)
      assert.equal(their.body.user_group.team_id, otherTeam)
      assert.notEqual(our.body.user_group.team_id, otherTeam)
      assert.notEqual(our.body.user_group.token, their.body.user_group.token)
      assert.deepEqual((await ours.getOrCreate(id)).body.user_group, our.body.user_group)
      assert.deepEqual((await theirs.getOrCreate(id)).body.user_group, their.body.user_group)
    })

    it('do not learn of each other by the figures, which are those of all', async () => {
      assert.equal((await ours.call('GET', '/metrics')).status, 200)
      const { token } = await makeApiToken('--team', String(otherTeam), '--scope', 'admin')
      const headers = { authorization: `Token ${token}` }
      assert.equal((await theirs.call('GET', '/api/team', { headers })).status, 200)
      assertError(await theirs.call('GET', '/metrics', { headers }), 403, 'insufficient_scope')
    })

    it('rotate without touching each other', async () => {
      const id = randomUUID()
      const our = await ours.getOrCreate(id)
      const their = await theirs.getOrCreate(id)
      const rotated = await ours.rotate(our.body.user_group.token)
      assertRotated(rotated)
      assert.deepEqual((await ours.getOrCreate(id)).body.user_group, rotated.body.user_group)
      assert.deepEqual((await theirs.getOrCreate(id)).body.user_group, their.body.user_group)
    })

    it('cannot tell a token of the other from one that never was, nor rotate it', async () => {
      const id = randomUUID()
      const { token } = (await theirs.getOrCreate(id)).body.user_group
      const unknown = await ours.rotate(`ugt_${'0'.repeat(38)}`)
      assertError(unknown, 404, 'token_not_found')

      const current = await ours.rotate(token)
      const graceful = await ours.rotate(token, { grace_seconds: 60 })
      assert.equal((await theirs.getOrCreate(id)).body.user_group.token, token)
      assertRotated(await theirs.rotate(token, { grace_seconds: 60 }))
      const rotated = await ours.rotate(token)
      for (const answer of [current, graceful, rotated])
        assert.deepEqual(withoutRequestId(answer), withoutRequestId(unknown))
      assertError(await theirs.rotate(token), 409, 'token_already_rotated')
    })
  })

function withoutRequestId({ status, headers, body }: Answer) {
  const { date, 'x-request-id': requestId, ...others } = headers
  const { request_id, ...rest } = body
  assert.notEqual(request_id, undefined)
  const length = Number(others['content-length']) - String(request_id).length
  return { status, headers: { ...others, 'content-length': length }, body: rest }
}
