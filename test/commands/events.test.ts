import assert from 'node:assert/strict'
import { once } from 'node:events'
import { before, describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { rawSql } from '../support/raw-database.ts'
import { assertRefusal } from '../support/refusal.ts'
import { spawnUgs } from '../support/service-process.ts'
import { times } from '../support/times.ts'
import { atTerminal } from './terminal.ts'

for (const engine of engines)
  describe(`ugs events on ${engine.name}`, () => {
    const terminal = atTerminal(engine)
    let team: ['--team', string]
    const numbers = async (...args: string[]): Promise<number[]> =>
      (await terminal.json('events', ...team, ...args)).map(({ id }: { id: number }) => id)
    before(async () => {
      team = await terminal.newTeam()
      await terminal.importLines(team, ...times(250, (index) => ({ user_group_id: `group ${index}` })))
    })

    it('shows the newest, or those behind an event, each once and in order', async () => {
      assert.deepEqual(
        await numbers(),
        times(100, (index) => 151 + index),
      )
      assert.deepEqual(await numbers('--limit', '2'), [249, 250])
      assert.deepEqual(await numbers('--after', '3', '--limit', '3'), [4, 5, 6])
      assert.deepEqual(
        await numbers('--after', '0', '--limit', '1000'),
        times(250, (index) => index + 1),
      )
      const { stdout } = await terminal.run('events', ...team, '--limit', '1')
      assert.match(
        stdout,
        /^ID +AT +KIND +SUBJECT +BY +DETAIL\n250 +\d{4}\S+Z +user_group\.created +group 249 +the terminal +-\n$/,
      )
      await rawSql(
        terminal.environment,
        `update event set api_token = 'the terminal' where team_id = ${team[1]} and id = 250`,
      )
      const forged = await terminal.run('events', ...team, '--limit', '1')
      assert.match(forged.stdout, /group 249 +token "the terminal" +-\n$/, 'an API token of that name is told apart')
      assertRefusal(await terminal.run('events', '--team', '99'), /no team 99/, /ugs team list/)
    })

    it('follows what happens, a line each, until it is told to stop', async () => {
      const own = await terminal.newTeam()
      await terminal.importLines(own, { user_group_id: 'before' })
      const following = spawnUgs(terminal.environment, 'events', '--follow', '--json', '--user-group', 'before', ...own)
      let seen = ''
      following.stdout.setEncoding('utf8').on('data', (text: string) => {
        seen += text
      })
      await eventually('the first event is shown', () => seen.includes('before'))
      await terminal.importLines(own, { user_group_id: 'another' })
      await terminal.json('user-group', 'update', 'before', '--rename', 'after', ...own)
      await eventually('the second one too', () => seen.includes('user_group.updated'))
      const exit = once(following, 'close')
      following.kill('SIGINT')
      assert.deepEqual(await exit, [0, null])
      const events = seen
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      assert.deepEqual(
        events.map(({ id, kind, user_group, renamed_to }) => [id, kind, user_group, renamed_to]),
        [
          [1, 'user_group.created', 'before', undefined],
          [3, 'user_group.updated', 'before', 'after'],
        ],
      )
    })

    it('follows under headings, each column in its place', async () => {
      const own = await terminal.newTeam()
      const following = spawnUgs(terminal.environment, 'events', '--follow', '--limit', '2', ...own)
      let seen = ''
      following.stdout.setEncoding('utf8').on('data', (text: string) => {
        seen += text
      })
      await eventually('the headings are shown', () => seen.endsWith('DETAIL\n'))
      await terminal.importLines(own, { user_group_id: 'acme' })
      await eventually('the first event is shown', () => seen.includes('acme'))
      const exit = once(following, 'close')
      await terminal.json('team', 'update', ...own, '--name', 'New name')
      assert.deepEqual(await exit, [0, null])
      const [heading = '', ...lines] = seen.trimEnd().split('\n')
      assert.match(heading, /^ID +AT +KIND +SUBJECT +BY +DETAIL$/)
      const columns = ['KIND', 'SUBJECT', 'BY'].map((name) => heading.indexOf(name))
      assert.deepEqual(
        lines.map((line) => columns.map((column) => /^\S+/.exec(line.slice(column))?.[0])),
        [
          ['user_group.created', 'acme', 'the'],
          ['team.updated', '-', 'the'],
        ],
      )
    })

    it('records what is done to the team itself', async () => {
      const own = await terminal.newTeam()
      const updated = await terminal.json('team', 'update', ...own, '--name', 'New name', '--strict-mapping', 'on')
      assert.deepEqual(updated, { id: Number(own[1]), name: 'New name', strict_mapping: true })
      const [event] = await terminal.json('events', ...own)
      assert.deepEqual([event.kind, event.api_token], ['team.updated', null])
      const [nothing, wrong] = await Promise.all([
        terminal.run('team', 'update', ...own),
        terminal.run('team', 'update', ...own, '--strict-mapping', 'maybe'),
      ])
      assert.deepEqual([nothing.code, wrong.code], [2, 2])
    })
  })

describe('ugs events', () => {
  const [engine = assert.fail()] = engines
  const terminal = atTerminal(engine)

  it('shows those of a user group, a kind or an API token alone, with what was done', async () => {
    const own = await terminal.newTeam()
    const groups = ['acme', 'globex'].map((user_group_id) => ({ user_group_id, disabled: user_group_id === 'acme' }))
    await terminal.importLines(own, ...groups)
    for (const flags of [
      ['--name', 'Acme', '--enable'],
      ['--rename', 'acme-2'],
    ])
      await terminal.json('user-group', 'update', 'acme', ...flags, ...own)
    await terminal.json('team', 'update', ...own, '--strict-mapping', 'on')
    await rawSql(
      terminal.environment,
      `update event set api_token = 'ci', by_api_token_id = 7 where team_id = ${own[1]} and id = 2`,
    )
    const shown = async (...args: string[]) => {
      const { stdout } = await terminal.run('events', ...own, ...args)
      const [, ...lines] = stdout.trimEnd().split('\n')
      return lines.map((line) => line.replace(/^(\d+) +\S+/, '$1').replaceAll(/ {2,}/g, ' | '))
    }
    assert.deepEqual(await shown('--user-group', 'acme'), [
      '1 | user_group.created | acme | the terminal | disabled',
      '3 | user_group.updated | acme | the terminal | set name; enabled',
      '4 | user_group.updated | acme → acme-2 | the terminal | set provided_id',
    ])
    assert.deepEqual(await shown('--user-group', 'acme', '--limit', '1', '--kind', 'user_group.created'), [
      '1 | user_group.created | acme | the terminal | disabled',
    ])
    assert.deepEqual(await shown('--by', '7'), ['2 | user_group.created | globex | token "ci" (7) | -'])
    assert.deepEqual(await shown('--kind', 'team.updated'), ['5 | team.updated | - | the terminal | strict_mapping on'])
    assert.deepEqual(await shown('--user-group', 'nobody'), [])
  })
})
