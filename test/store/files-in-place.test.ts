import assert from 'node:assert/strict'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { ServiceError } from '../../src/errors.ts'
import { engines } from '../support/engines.ts'
import { sqlitePath } from '../support/raw-database.ts'
import { keyOf, noon, storeOn } from '../support/store.ts'

const [sqlite = assert.fail()] = engines
const unavailable = { code: 'unavailable' }

describe('a SQLite database whose files go astray while it is open', () => {
  const on = storeOn(sqlite)
  const path = () => sqlitePath(on.database.environment)

  it('neither reads nor writes while its file is elsewhere, and does both once it is back', async () => {
    const team = await on.newTeam()
    const { token } = await team.make('acme')
    const version = on.service.store.version()
    renameSync(path(), `${path()}.moved`)
    await assert.rejects(team.userGroups.find('acme'), unavailable)
    await assert.rejects(team.userGroups.get('acme'), unavailable)
    await assert.rejects(team.verify(token), unavailable)
    await assert.rejects(team.make('another'), unavailable)
    await assert.rejects(on.service.store.teams.create('Another', noon), unavailable)
    assert.equal(on.service.store.version(), undefined, 'nothing may be answered from memory')
    renameSync(`${path()}.moved`, path())
    assert.equal((await team.make('acme')).token, token)
    assert.equal((await team.make('a third')).created, true)
    assert.ok(Number(on.service.store.version()) > Number(version))
  })

  it('does not take a copy for the file itself', async () => {
    const team = await on.newTeam()
    await team.make('acme')
    renameSync(path(), `${path()}.moved`)
    copyFileSync(`${path()}.moved`, path())
    await assert.rejects(team.userGroups.find('acme'), unavailable)
    await assert.rejects(team.make('another'), (error: ServiceError) =>
      /was taken away or replaced; put it back/.test(String(error.cause)),
    )
    renameSync(`${path()}.moved`, path())
    assert.equal((await team.make('acme')).created, false)
  })

  it('neither reads nor writes while its index is elsewhere, by which processes know of each other', async () => {
    const team = await on.newTeam()
    const { token } = await team.make('acme')
    const index = `${path()}-shm`
    renameSync(index, `${index}.moved`)
    await assert.rejects(team.verify(token), unavailable)
    await assert.rejects(team.make('another'), unavailable)
    assert.equal(on.service.store.version(), undefined, 'nothing may be answered from memory')
    renameSync(`${index}.moved`, index)
    assert.equal((await team.make('another')).created, true, 'it was not even tried')
  })

  it('acknowledges no write while its log is elsewhere', async () => {
    const team = await on.newTeam()
    const log = `${path()}-wal`
    renameSync(log, `${log}.moved`)
    await assert.rejects(team.make('acme'), unavailable)
    rmSync(log, { force: true })
    renameSync(`${log}.moved`, log)
    assert.equal((await team.make('acme')).created, true, 'it was not even tried')
  })

  it('acknowledges no write in the middle of which its file is taken away', async () => {
    const team = await on.newTeam()
    const { token } = await team.make('acme')
    const { tokens } = on.service
    const seal = (groupId: number) => {
      renameSync(path(), `${path()}.moved`)
      return tokens.mintForUserGroup(team.teamId, groupId, noon).sealed
    }
    const rotation = team.userGroups.replaceToken(keyOf(tokens, token), { seal, graceSeconds: 0 }, noon)
    await assert.rejects(rotation, unavailable)
    renameSync(`${path()}.moved`, path())
    assert.equal((await team.make('acme')).created, false)
  })
})
