import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { openService } from '../../src/service.ts'
import { type Engine, engines, newMasterKey } from '../support/engines.ts'
import { rawSql } from '../support/raw-database.ts'
import { assertRefusal } from '../support/refusal.ts'
import { ugs } from '../support/service-process.ts'
import { times } from '../support/times.ts'
import { atTerminal, jsonLines, type Terminal } from './terminal.ts'

/** Groups with everything that is hard to write and to read again. */
function manyGroups(count: number) {
  return times(count, (index) => ({
    user_group_id: `group, "${index}" é😀 `,
    name: index % 2 ? `Name of ${index}` : ' =1+1, "quoted"',
    mapping: index % 3 ? {} : { 'sales "x"': `db\n${index}`, ['__proto__']: 'db' },
    properties: { text: 'a\r\n"b",\u2028c', number: -1.5e-7, deep: [[{}, null, true]], index },
    ...(index % 5 === 0 && { disabled: true }),
  }))
}

for (const engine of engines)
  describe(`ugs user-group export on ${engine.name}`, () => {
    const here = atTerminal(engine)
    const elsewhere = atTerminal(engine)
    const rowsOf = ({ environment }: Terminal, team: string) =>
      rawSql(
        environment,
        `select provided_id, name, mapping, properties, disabled from user_group where team_id = ${team} order by id`,
      )

    for (const format of ['jsonl', 'csv'])
      it(`writes 2,000 groups as ${format} that an import elsewhere makes equal, tokens too`, async () => {
        const team = await here.newTeam()
        const groups = manyGroups(2_000)
        await here.importLines(team, ...groups)
        const file = here.file(`with-tokens.${format}`)
        const summary = await here.json('user-group', 'export', file, ...team, '--with-tokens')
        assert.deepEqual(summary, { file, exported: 2_000 })
        assert.equal(statSync(file).mode & 0o777, 0o600)

        const there = await elsewhere.newTeam()
        const imported = await elsewhere.json('user-group', 'import', file, ...there)
        assert.deepEqual(imported, { created: 2_000, already_there: 0, refused: 0 })
        assert.deepEqual(await rowsOf(elsewhere, there[1]), await rowsOf(here, team[1]))
        const again = await elsewhere.run('user-group', 'export', '-', '--format', format, ...there, '--with-tokens')
        assert.equal(again.stdout, readFileSync(file, 'utf8'))
        assert.equal(again.stdout.match(/\bugt_[0-9A-Za-z]{38}\b/g)?.length, 2_000)
      })

    it('writes no token unless it is told to, and nothing of another team', async () => {
      const [team, others] = [await here.newTeam(), await here.newTeam()]
      const token = `a-token-of-team-${team[1]}`
      await here.importLines(team, { user_group_id: 'acme', token, properties: { a: 1 } })
      await here.importLines(others, { user_group_id: 'theirs', token: `a-token-of-team-${others[1]}` })
      const plain = await here.run('user-group', 'export', '-', ...team)
      assert.equal(
        plain.stdout,
        jsonLines([{ user_group_id: 'acme', name: 'acme', mapping: {}, properties: { a: 1 } }]),
      )
      const csv = await here.run('user-group', 'export', '-', '--format', 'csv', ...team)
      assert.equal(csv.stdout, 'user_group_id,name,mapping,properties,disabled\nacme,acme,{},"{""a"":1}",\n')
      const secret = await here.run('user-group', 'export', '-', ...team, '--with-tokens')
      assert.equal(JSON.parse(secret.stdout).token, token)
    })

    it('overwrites nothing, beside it neither, and leaves nothing behind when it fails', async () => {
      const team = await here.newTeam()
      const file = here.file('kept.csv')
      writeFileSync(file, 'kept')
      assertRefusal(await here.run('user-group', 'export', file, ...team), /exists already/, /another name/)
      assert.equal(readFileSync(file, 'utf8'), 'kept')
      const nowhere = here.file('no/such/folder.csv')
      assertRefusal(await here.run('user-group', 'export', nowhere, ...team), /The export failed/, /folder exists/)
      const drafts = () => readdirSync(dirname(file)).filter((name) => name.endsWith('.part'))
      assert.deepEqual(drafts(), [])
      const target = here.file('one.csv')
      writeFileSync(`${target}.part`, 'of somebody else')
      await here.json('user-group', 'export', target, ...team)
      assert.deepEqual(drafts(), ['one.csv.part'])
      assert.equal(readFileSync(`${target}.part`, 'utf8'), 'of somebody else')
    })

    it('writes an empty file for a team without groups, which an import accepts', async () => {
      const team = await here.newTeam()
      const file = here.file('empty.csv')
      assert.equal((await here.json('user-group', 'export', file, ...team)).exported, 0)
      const summary = await here.json('user-group', 'import', file, ...team)
      assert.deepEqual(summary, { created: 0, already_there: 0, refused: 0 })
    })

    it('says to people how many groups it wrote, as an import says how many lines it refused', async () => {
      const team = await here.newTeam()
      const lines = jsonLines([{ user_group_id: 'acme' }, { user_group_id: '' }])
      const imported = await here.reading(lines, 'user-group', 'import', '-', ...team)
      assert.equal(imported.stdout, '1 created, 0 already there, 1 line refused.\n')
      const file = here.file('one.jsonl')
      const { stdout } = await here.run('user-group', 'export', file, ...team)
      assert.equal(stdout, `1 user group exported to ${file}.\n`)
    })
  })

describe('a user group whose stored token is damaged', () => {
  const terminal = atTerminal(engines[0] as Engine)

  it('is named by an export, which goes on, and by a change of the master key, which does not', async () => {
    const { environment } = terminal
    const team = await terminal.newTeam()
    await terminal.importLines(team, ...['before', 'spoilt', 'behind'].map((id) => ({ user_group_id: id })))
    await rawSql(environment, "update user_group set token_sealed = zeroblob(60) where provided_id = 'spoilt'")
    const { code, stdout, stderr } = await terminal.run('user-group', 'export', '-', ...team, '--with-tokens')
    assert.deepEqual(stdout.match(/"user_group_id":"\w+"/g), ['"user_group_id":"before"', '"user_group_id":"behind"'])
    const remedy = /Delete the user group and create it again.* or restore a backup/
    assertRefusal(
      { code, stdout: '', stderr },
      new RegExp(`does not open: user group spoilt of team ${team[1]}`),
      remedy,
    )

    const both = { ...environment, UGS_MASTER_KEY: `${newMasterKey()},${environment.UGS_MASTER_KEY}` }
    await (await openService(readConfig(both), { bringsKey: true })).store.close()
    const sentence = new RegExp(`token of user group spoilt of team ${team[1]} does not open`)
    assertRefusal(await ugs(both, 'keys', 'rotate'), sentence, remedy)
  })
})
