import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { openService } from '../../src/service.ts'
import { engines } from '../support/engines.ts'
import { rawCount } from '../support/raw-database.ts'
import { noon, teamOn } from '../support/store.ts'

const [sqlite = assert.fail()] = engines

it('a write that began before SQLite is closed is done, and told so', async (t) => {
  const { environment, remove } = await sqlite.freshDatabase()
  t.after(remove)
  const service = await openService(readConfig(environment), { bringsKey: true })
  const { id } = await service.store.teams.create('A team', noon)
  const making = teamOn(service, id, null).make('acme')
  const [{ created }] = await Promise.all([making, service.store.close()])
  assert.equal(created, true)
  assert.equal(await rawCount(environment, `user_group where provided_id = 'acme'`), 1)
})
