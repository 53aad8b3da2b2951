import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { runCommand } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { sqlitePath } from '../support/raw-database.ts'
import { assertRefusal, failingStart } from '../support/refusal.ts'

const [sqlite = assert.fail()] = engines

describe('a SQLite database that another process holds for long, as one that migrates it does', () => {
  it('is neither served nor written, and the refusal says to try again', async (t) => {
    const premises = await Premises.open(t, sqlite)
    await premises.start()
    const { environment } = premises
    const createTeam = () => runCommand(environment, 'team', 'create', 'Acme')
    using holder = new DatabaseSync(sqlitePath(environment))
    holder.exec('begin immediate')
    const [start, command] = await Promise.all([failingStart(environment), createTeam()])
    assertRefusal(start, /test\.db cannot be opened: database is locked/, /perhaps a start that migrates it: try again/)
    assertRefusal(command, /database is locked/, /perhaps a start that migrates it: try again/)
    holder.exec('rollback')
    assert.equal((await createTeam()).code, 0)
  })
})
