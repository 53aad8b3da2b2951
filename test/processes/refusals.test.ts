import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startReading } from '../support/command.ts'
import { engines, newMasterKey } from '../support/engines.ts'
import { freePort } from '../support/postgres-server.ts'
import { type CalledService, Premises } from '../support/premises.ts'
import { rawSql } from '../support/raw-database.ts'
import { assertQuiet, assertRefusal, failingStart } from '../support/refusal.ts'
import type { Environment } from '../support/service-process.ts'

for (const engine of engines)
  describe(`a start on ${engine.name} refuses`, () => {
    let premises: Premises
    let service: CalledService
    let environment: Environment
    let key: string
    before(async () => {
      premises = await Premises.open(undefined, engine)
      environment = premises.environment
      key = environment.UGS_MASTER_KEY as string
      service = await premises.start()
      await service.caller.getOrCreate('acme')
    })
    after(() => premises.close())

    it('a master key that does not belong to the database', async () => {
      const wrong = newMasterKey()
      const ended = await failingStart({ ...environment, UGS_MASTER_KEY: wrong })
      assertRefusal(ended, /sealed under master key [0-9a-f]{8}, which is not among/, /UGS_MASTER_KEY/, [key, wrong])
    })

    it('an API token that a user group has, or had', async () => {
      const [current, former] = ['brought-by-a-customer', 'brought-by-another-one'] as const
      const lines = [current, former].map((token) => `{"user_group_id":"of ${token}","token":"${token}"}\n`)
      assert.equal((await startReading(lines.join(''), environment, 'user-group', 'import', '-').ended).code, 0)
      await service.caller.rotate(former)
      for (const token of [current, former]) {
        const ended = await failingStart({ ...environment, UGS_API_TOKEN: token })
        assertRefusal(ended, /UGS_API_TOKEN is, or was, the token of a user group/, /api-token create/, [token])
      }
    })

    it('a database newer than the program', async () => {
      await rawSql(environment, 'insert into schema_version (version, applied_at) values (9999, 0)')
      const ended = await failingStart(environment)
      await rawSql(environment, 'delete from schema_version where version = 9999')
      assertRefusal(ended, /schema version 9999, newer than/, /newer version of the program/, [key])
    })

    it('a port in use', async () => {
      const { port } = new URL(service.url)
      const ended = await failingStart({ ...environment, PORT: port })
      assertRefusal(ended, new RegExp(`port ${port} \\(EADDRINUSE\\)`), /set PORT/, [key])
    })

    it('a ring from which a key was removed that is still in use', async (t) => {
      const other = await Premises.open(t, engine)
      const newer = newMasterKey()
      const old = other.environment.UGS_MASTER_KEY as string
      const both = await other.start({ UGS_MASTER_KEY: `${newer},${old}` })
      await both.caller.getOrCreate('acme')
      const without = { ...other.environment, UGS_MASTER_KEY: old }
      assertRefusal(await failingStart(without), /sealed under master key/, /UGS_MASTER_KEY/, [newer, old])
      assert.equal((await both.caller.call('GET', '/readyz')).status, 200)
    })

    it('and leaves the database as it was: the service beside it is still ready', async () => {
      assert.equal((await service.caller.call('GET', '/readyz')).status, 200)
      assert.equal((await rawSql(environment, 'select id from master_key')).length, 1)
    })

    if (engine.name === 'PostgreSQL') {
      it('to go without a master key', async () => {
        const ended = await failingStart({ ...environment, UGS_MASTER_KEY: undefined })
        assert.equal(ended.code, 1)
        assert.match(ended.stderr, /^ {2}UGS_MASTER_KEY: required with PostgreSQL; make one with: node -p/m)
        assertQuiet(ended)
      })

      it('a server that does not answer, without showing the password', async () => {
        const url = `postgres://ugs:pa55word@127.0.0.1:${await freePort()}/ugs`
        const ended = await failingStart({ ...environment, DATABASE_URL: url })
        assertRefusal(ended, /cannot be reached: .*ECONNREFUSED/, /DATABASE_URL/, [key, 'pa55word'])
      })

      it('a database that does not exist, without showing the password', async () => {
        const url = new URL(environment.DATABASE_URL as string)
        url.password = 'pa55word'
        url.pathname = '/no_such_database'
        const ended = await failingStart({ ...environment, DATABASE_URL: url.href })
        assertRefusal(ended, /database "no_such_database" does not exist/, /DATABASE_URL/, [key, 'pa55word'])
      })

      it('an address that is none, without showing the password', async () => {
        const ended = await failingStart({ ...environment, DATABASE_URL: 'postgres://ugs:pa55word@[nowhere/ugs' })
        assertRefusal(ended, /Invalid URL/, /DATABASE_URL; in a password write %23 for #/, [key, 'pa55word'])
      })
    }
  })
