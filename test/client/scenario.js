// Runs on every run time, as a program of somebody who has installed the client: each address below leads through a
// proxy that spoils the first requests in its own way.
import assert from 'node:assert/strict'
import { UserGroupService, UserGroupServiceError } from 'user-group-service-client'

const { USER_GROUP_SERVICE_URL, UGS_API_TOKEN, PROXIES } = process.env
const { lost, lostRotation, lostCreation, lostRenaming, lostDeletion, ...others } = JSON.parse(PROXIES)
const { hung, hungAgain, refused, limited, cut, redirected, closed, gone } = others

function clientOf(baseUrl, settings = {}) {
  return new UserGroupService({ baseUrl, apiToken: UGS_API_TOKEN, ...settings })
}

async function failure(call) {
  const error = await call.then(
    () => assert.fail('the call did not fail'),
    (reason) => reason,
  )
  assert.ok(error instanceof UserGroupServiceError, error)
  return error.code
}

const direct = clientOf(USER_GROUP_SERVICE_URL)
const { user_group: acme } = await clientOf(lost).getOrCreate({ user_group_id: 'acme', name: 'Grüße 🎉' })
assert.equal(acme.name, 'Grüße 🎉')

const { user_group: rotated } = await clientOf(lostRotation).rotate(acme.token, { provided_id: 'acme' })
assert.notEqual(rotated.token, acme.token)
assert.equal((await direct.verify(rotated.token)).active, true)
assert.equal((await direct.verify(acme.token)).reason, 'rotated')

// On connections that were used before: that is where run times repeat by themselves.
const creator = clientOf(lostCreation)
await creator.getTeam()
assert.equal(await failure(creator.createSchema({ id: 'sales' })), 'answer_lost')
assert.equal((await direct.getSchema('sales')).schema.id, 'sales')

await clientOf(lostRenaming).updateUserGroup('acme', { provided_id: 'renamed' })
const remover = clientOf(lostDeletion)
await remover.getTeam()
const deletion = remover.deleteUserGroup('renamed')
// Deno sends it again whatever is done, and the second one finds nothing.
if ('Deno' in globalThis) assert.equal(await failure(deletion), 'user_group_not_found')
else await deletion

assert.equal((await clientOf(hung, { timeoutMs: 300 }).getTeam()).team.id, 1)
assert.equal((await clientOf(cut).getTeam()).team.id, 1)
assert.equal((await clientOf(refused).getTeam()).team.id, 1)
assert.equal((await clientOf(limited).createApiToken({ name: 'ci', scopes: ['verify'] })).api_token.name, 'ci')
assert.equal(await failure(clientOf(redirected).getTeam()), 'unexpected_answer')
assert.equal(await failure(clientOf(closed, { retries: 1 }).getTeam()), 'connection_failed')
assert.equal(await failure(clientOf(closed, { retries: 1 }).createSchema({})), 'connection_failed')

// Deno would find no connection when it sends them again, and say so as if nothing had been sent at all.
const changes = [
  (client) => client.updateTeam({ name: 'Renamed' }),
  (client) => client.getOrCreate({ user_group_id: 'new' }),
  (client) => client.deleteUserGroup('acme'),
]
for (const [index, change] of changes.entries()) {
  const client = clientOf(gone[index], { retries: 0 })
  await client.getTeam()
  assert.equal(await failure(change(client)), 'answer_lost')
}

const leaving = new AbortController()
const reason = new Error('the user left')
setTimeout(() => leaving.abort(reason), 200)
await assert.rejects(clientOf(hungAgain).getTeam({ signal: leaving.signal }), reason)
