import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { mintToken } from '../../src/tokens/format.ts'
import { engines } from '../support/engines.ts'
import { rawSql } from '../support/raw-database.ts'
import { assertQuiet, assertRefusal } from '../support/refusal.ts'
import { times } from '../support/times.ts'
import { atTerminal } from './terminal.ts'

const token = 'a-token-from-elsewhere-0001'

// An operation is tried on both engines over HTTP; at the terminal it is the same one.
const [, postgres = assert.fail()] = engines

describe('ugs user-group on PostgreSQL', () => {
  const terminal = atTerminal(postgres)
  const userGroup = (...args: string[]) => terminal.run('user-group', ...args)
  let team: ['--team', string]
  before(async () => {
    team = await terminal.newTeam()
    await terminal.importLines(team, ...times(205, (index) => ({ user_group_id: `many ${index}` })))
  })

  it('lists groups newest last, by prefix, and says when there are more', async () => {
    const all = await terminal.json('user-group', 'list', ...team, '--limit', '1000')
    assert.deepEqual(
      all.map(({ provided_id }: { provided_id: string }) => provided_id),
      times(205, (index) => `many ${index}`),
    )
    assert.equal('token' in all[0], false)
    const found = await terminal.json('user-group', 'list', ...team, '--q', 'MANY 20')
    assert.equal(found.length, 6)
    const some = await userGroup('list', ...team, '--limit', '2')
    assert.match(some.stdout, /^ID +NAME +STATE +CREATED +TOKEN ROTATED\nmany 0 .+ active .+\nmany 1 .+\n$/)
    assert.match(some.stderr, /more than the 2 shown/)
  })

  it('shows one group, and says how to find those there are when it has none such', async () => {
    const shown = await terminal.json('user-group', 'show', 'many 7', ...team)
    assert.deepEqual([shown.provided_id, shown.mapping, shown.disabled], ['many 7', {}, false])
    assert.match((await userGroup('show', 'many 7', ...team)).stdout, /^provided_id +many 7$/m)
    assertRefusal(await userGroup('show', 'nobody', ...team), /no user group with that id/, /ugs user-group list/)
    assertRefusal(await userGroup('show', 'many 7', '--team', '99'), /no team 99/, /ugs team list/)
  })

  it('changes only what is given, and keeps the token under a new id', async () => {
    const own = await terminal.newTeam()
    const properties = { region: 'eu' }
    await terminal.importLines(own, { user_group_id: 'acme', token, properties })
    const renamed = await terminal.json('user-group', 'update', 'acme', ...own, '--rename', 'acme 2', '--name', 'Acme')
    assert.deepEqual([renamed.provided_id, renamed.name, renamed.properties], ['acme 2', 'Acme', properties])
    const mapping = ['--mapping', '{"sales":"db"}', '--disable']
    assert.equal((await terminal.json('user-group', 'update', 'acme 2', ...own, ...mapping)).disabled, true)
    const answer = JSON.parse((await terminal.reading(token, 'user-group', 'verify', ...own, '--json')).stdout)
    assert.deepEqual(answer, { active: false, reason: 'disabled' })
    assert.equal((await terminal.json('user-group', 'update', 'acme 2', ...own, '--enable')).disabled, false)
    const trail = await terminal.json('events', ...own)
    assert.deepEqual(
      trail.map(({ kind, api_token }: Record<string, string>) => [kind, api_token]),
      [['user_group.created', null], ...times(3, () => ['user_group.updated', null])],
    )
  })

  it('refuses what the service refuses over HTTP', async () => {
    const update = (...args: string[]) => userGroup('update', 'many 1', ...team, ...args)
    assertRefusal(await update('--mapping', '{"sales":7}'), /mapping\.sales must be/, /nothing was changed/)
    assertRefusal(await update('--properties', '[]'), /properties must be/, /nothing was changed/)
    assertRefusal(await update('--properties', '{"id":12345678901234567890}'), /properties\.id would lose digits/, /./)
    assertRefusal(await update('--rename', 'many 2'), /provided_id already/, /Nothing was changed/)
  })

  it('tells a wrong use from a refusal by exit code 2', async () => {
    const wrong: [RegExp, ...string[]][] = [
      [/say what to change/, 'update', 'many 1'],
      [/one JSON object/, 'update', 'many 1', '--mapping', '{'],
      [/cannot be used with/, 'update', 'many 1', '--disable', '--enable'],
      [/whole number/, 'list', '--limit', 'all'],
      [/positive whole number/, 'list', '--team', 'mine'],
      [/does not tell its format/, 'import', 'customers.xlsx'],
      [/unknown command/, 'remove'],
    ]
    const ended = await Promise.all(wrong.map(([, ...args]) => userGroup(...args)))
    for (const [index, { code, stderr }] of ended.entries()) {
      assert.equal(code, 2, stderr)
      assert.match(stderr, wrong[index]?.[0] ?? /never/)
    }
  })

  it('deletes a group with its token', async () => {
    const own = await terminal.newTeam()
    const theirToken = 'a-token-from-elsewhere-0002'
    await terminal.importLines(own, { user_group_id: 'acme', token: theirToken })
    assert.deepEqual(await terminal.json('user-group', 'delete', 'acme', ...own), { deleted: 'acme' })
    assertRefusal(await userGroup('delete', 'acme', ...own), /no user group/, /ugs user-group list/)
    const answer = await terminal.reading(theirToken, 'user-group', 'verify', ...own)
    assert.deepEqual(answer, { code: 1, stdout: 'active  false\nreason  unknown\n', stderr: '' })
  })

  it('rotates a token read from standard input or a file, and prints nothing but the new one', async () => {
    const own = await terminal.newTeam()
    const first = 'a-token-from-elsewhere-0003'
    await terminal.importLines(own, { user_group_id: 'acme', token: first })
    const grace = ['--grace-seconds', '600']
    const second = await terminal.reading(`${first}\n`, 'user-group', 'rotate', ...own, ...grace)
    assert.match(second.stdout, /^ugt_[0-9A-Za-z]{38}\n$/)
    const verified = await terminal.reading(first, 'user-group', 'verify', ...own, '--json')
    const inGrace = JSON.parse(verified.stdout)
    assert.deepEqual([verified.code, inGrace.active], [0, true])
    assert.notEqual(inGrace.expires_at, null)

    writeFileSync(terminal.file('token'), second.stdout)
    const third = await terminal.json('user-group', 'rotate', ...own, '--token-file', terminal.file('token'))
    assert.deepEqual(Object.keys(third).sort(), ['name', 'provided_id', 'team_id', 'token'])
    assertRefusal(await terminal.reading(first, 'user-group', 'rotate', ...own), /rotated already/, /GET \/api\/user/, [
      first,
      second.stdout.trim(),
      third.token,
    ])
    assertRefusal(await terminal.reading(third.token, 'user-group', 'rotate', ...team), /No user group/, /--team/)
    assertRefusal(await userGroup('rotate', ...own), /no token in the input/, /--token-file/)
  })

  it('rotates the stored token of a group that is named, and prints nothing but the new one', async () => {
    const own = await terminal.newTeam()
    const first = 'a-token-from-elsewhere-0004'
    await terminal.importLines(own, { user_group_id: 'acme', token: first })
    await terminal.json('user-group', 'update', 'acme', ...own, '--disable')
    const rotated = await userGroup('rotate', 'acme', ...own)
    assert.match(rotated.stdout, /^ugt_[0-9A-Za-z]{38}\n$/, rotated.stderr)
    assertQuiet(rotated, [first])
    const old = JSON.parse((await terminal.reading(first, 'user-group', 'verify', ...own, '--json')).stdout)
    assert.deepEqual(old, { active: false, reason: 'rotated' })
    const made = await terminal.json('user-group', 'create', 'acme', ...own)
    assert.deepEqual([made.token, made.new_user_group], [rotated.stdout.trim(), false])
    assertRefusal(await userGroup('rotate', 'nobody', ...own), /no user group with that id/, /ugs user-group list/)
    assert.equal((await terminal.json('user-group', 'list', ...own)).length, 1, 'and makes none')
    const both = await userGroup('rotate', 'acme', '--token-file', 'old.txt')
    assert.deepEqual([both.code, both.stdout], [2, ''])
  })

  it('makes a group and prints its token, also of one that is there already, which it leaves as it is', async () => {
    const own = await terminal.newTeam()
    const more = ['--name', 'Acme Inc.', '--mapping', '{"sales":"db"}', '--properties', '{"region":"eu"}']
    const made = await userGroup('create', 'acme', ...own, ...more)
    assert.match(made.stdout, /^ugt_[0-9A-Za-z]{38}\n$/, made.stderr)
    assert.match(made.stderr, /^User group acme \(Acme Inc\.\) is new\./)
    const again = await userGroup('create', 'acme', ...own, '--name', 'Another')
    assert.equal(again.stdout, made.stdout)
    assert.match(again.stderr, /acme \(Acme Inc\.\) was there already, and is left as it is\./)
    const shown = await terminal.json('user-group', 'show', 'acme', ...own)
    assert.deepEqual([shown.mapping, shown.properties], [{ sales: 'db' }, { region: 'eu' }])
    assertRefusal(await userGroup('create', 'b', ...own, '--mapping', '{"sales":7}'), /mapping\.sales must be/, /./)
  })

  it('names the group whose stored token does not open', async () => {
    const own = await terminal.newTeam()
    await terminal.importLines(own, { user_group_id: 'acme' })
    const damage = `update user_group set token_sealed = decode('00', 'hex') where team_id = ${own[1]}`
    await rawSql(terminal.environment, damage)
    for (const command of ['rotate', 'create'])
      assertRefusal(await userGroup(command, 'acme', ...own), /user group acme .+ does not open/, /restore a backup/)
  })

  it('takes no token as an argument, and repeats none it was given so', async () => {
    const minted = mintToken('ugt_')
    for (const args of [
      ['verify', token],
      ['rotate', 'acme', token],
      ['rotate', minted],
      ['create', minted],
    ]) {
      const { code, stdout, stderr } = await userGroup(...args)
      assert.equal(code, 2)
      assert.match(stderr, /^error: a token is no argument: /)
      for (const given of [token, minted]) assert.ok(!`${stdout}${stderr}`.includes(given))
    }
  })
})
