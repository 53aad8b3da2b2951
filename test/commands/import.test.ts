import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { mintToken } from '../../src/tokens/format.ts'
import { type Engine, engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { rawCount } from '../support/raw-database.ts'
import { assertQuiet, assertRefusal } from '../support/refusal.ts'
import { spawnUgs } from '../support/service-process.ts'
import { times } from '../support/times.ts'
import { atTerminal, jsonLines } from './terminal.ts'

for (const engine of engines)
  describe(`ugs user-group import on ${engine.name}`, () => {
    const terminal = atTerminal(engine)
    const verify = (token: string, team: string[]) => terminal.perform(team, 'token.verify', { body: { token } })
    const groupsOf = async (team: string[]) => (await terminal.perform(team, 'user_group.list')).user_groups
    const eventsOf = async (team: string[]) => (await terminal.perform(team, 'event.list')).events
    const importing = async (input: string | Uint8Array, ...args: string[]) => {
      const ended = await terminal.reading(input, 'user-group', 'import', '-', '--json', ...args)
      return { ...ended, summary: ended.stdout === '' ? undefined : JSON.parse(ended.stdout) }
    }
    const ids = async (team: string[]): Promise<string[]> =>
      (await groupsOf(team)).map((group: { provided_id: string }) => group.provided_id)

    it('creates each group once, as the file says, and keeps its token valid', async () => {
      const team = await terminal.newTeam()
      const token = 'token-of-another-system-1'
      const acme = { user_group_id: 'acme', name: 'Acme', mapping: { sales: 'acme-db' }, properties: { n: [1, null] } }
      const lines = [
        { ...acme, token },
        { user_group_id: 'zeta', disabled: true },
        { user_group_id: 'beta', Token: 1 },
      ]
      const first = await importing(jsonLines(lines), ...team)
      assert.deepEqual([first.code, first.summary], [0, { created: 3, already_there: 0, refused: 0 }])
      assert.equal(first.stderr, 'Not a field of a user group, and ignored: Token.\n')
      const groups = await groupsOf(team)
      assert.deepEqual(
        groups.map(({ provided_id, name, disabled }: Record<string, unknown>) => [provided_id, name, disabled]),
        [
          ['acme', 'Acme', false],
          ['zeta', 'zeta', true],
          ['beta', 'beta', false],
        ],
      )
      assert.deepEqual([groups[0].mapping, groups[0].properties], [acme.mapping, acme.properties])
      const answer = await verify(token, team)
      assert.deepEqual([answer.active, answer.user_group.provided_id], [true, 'acme'])
      const trail = await eventsOf(team)
      assert.deepEqual(
        trail.map((event: Record<string, unknown>) => [event.id, event.kind, event.user_group]),
        ['acme', 'zeta', 'beta'].map((id, index) => [index + 1, 'user_group.created', id]),
      )

      const again = await importing(jsonLines(lines.map((line) => ({ ...line, name: 'Another' }))), ...team)
      assert.deepEqual([again.code, again.summary], [0, { created: 0, already_there: 3, refused: 0 }])
      assert.deepEqual(await groupsOf(team), groups)
    })

    it('refuses lines one by one, with number and reason, and imports none of them by half', async () => {
      const team = await terminal.newTeam()
      const secret = 'secret-token-in-a-bad-line'
      const apiToken = mintToken('uga_')
      const lines = [
        '{"user_group_id":"good 1"}',
        '',
        '{"user_group_id":7}',
        `{"user_group_id":"x","token":"${secret}","mapping":{"sales":7}}`,
        `{"user_group_id":"x","token":"${secret}"`,
        '{"user_group_id":"x","properties":{"id":12345678901234567890}}',
        '{"user_group_id":"x","token":"short"}',
        '{"user_group_id":"x","token":"ugt_00000000000000000000000000000000000000"}',
        '{"user_group_id":"x","name":null}',
        '[]',
        `{"user_group_id":"x","name":"${'x'.repeat(1024 * 1024)}"}`,
        '{"user_group_id":"good 2"}\r',
        '{"user_group_id":"good 1","name":"a later line of the same id"}',
        `{"user_group_id":"x","token":"${apiToken}"}`,
      ].join('\n')
      const bytes = Buffer.concat([
        Buffer.from(lines),
        Buffer.from('\n{"user_group_id":"'),
        Buffer.from([0xff, 0x22, 0x7d]),
      ])
      const ended = await importing(bytes, ...team)
      assert.deepEqual([ended.code, ended.summary], [1, { created: 2, already_there: 1, refused: 11 }])
      assertQuiet(ended, [secret, apiToken])
      const reasons = new Map(ended.stderr.split('\n').map((line) => [Number(/^line (\d+):/.exec(line)?.[1]), line]))
      for (const [line, reason] of [
        [3, /user_group_id must be a string/],
        [4, /mapping\.sales must be/],
        [5, /not valid JSON/],
        [6, /properties\.id would lose digits/],
        [7, /token must be a string of 16 to 255/],
        [8, /checksum is wrong/],
        [9, /name must be/],
        [10, /must be a JSON object/],
        [11, /longer than 1 MiB/],
        [14, /token is an API token/],
        [15, /not text in UTF-8/],
      ] as const)
        assert.match(reasons.get(line) ?? '', reason, `line ${line}`)
      assert.deepEqual(await ids(team), ['good 1', 'good 2'])
      assert.equal((await eventsOf(team)).length, 2)
    })

    it('refuses a token that is an API token, of whatever form and team', async () => {
      const [ours, theirs] = [await terminal.newTeam(), await terminal.newTeam()]
      const token = 'an-api-token-that-an-operator-chose'
      await terminal.addApiToken(theirs, token)
      const ended = await importing(jsonLines([{ user_group_id: 'a', token }, { user_group_id: 'b' }]), ...ours)
      assert.deepEqual(ended.summary, { created: 1, already_there: 0, refused: 1 })
      assert.match(ended.stderr, /^line 1: token is not free/m)
      assertQuiet(ended, [token])
      assert.deepEqual(await ids(ours), ['b'])
    })

    it('refuses a token that another group has or had, whoever that is, and another one for a group that is there', async () => {
      const [ours, theirs] = [await terminal.newTeam(), await terminal.newTeam()]
      const [taken, former, free] = ['current-token-of-others', 'former-token-of-others', 'a-token-nobody-has-yet']
      const another = 'another-token-nobody-has'
      await terminal.importLines(
        theirs,
        { user_group_id: 'one', token: taken },
        { user_group_id: 'two', token: former },
      )
      assert.equal((await terminal.reading(former, 'user-group', 'rotate', ...theirs)).code, 0)
      const lines = [
        { user_group_id: 'a', token: taken },
        { user_group_id: 'b', token: former, mapping: { sales: 'db' } },
        { user_group_id: 7 },
        { user_group_id: 'b', token: free, name: 'The second line of b' },
        { user_group_id: 'c', token: free },
        { user_group_id: 'b', token: another },
        { user_group_id: 'b', token: free },
      ]
      const refused = terminal.file(`refused of ${ours[1]}`)
      const ended = await importing(jsonLines(lines), ...ours, '--refused', refused)
      assert.deepEqual([ended.code, ended.summary], [1, { created: 1, already_there: 1, refused: 5 }])
      assertQuiet(ended, [taken, former, free, another])
      const reasons = readFileSync(refused, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      assert.deepEqual(
        reasons.map(({ line, code, field }) => [line, code, field]),
        [1, 2, 3, 5, 6].map((line) =>
          line === 3 ? [3, 'invalid_request', 'user_group_id'] : [line, 'conflict', 'token'],
        ),
        'in the order of the file',
      )
      const messages = new Map(reasons.map(({ line, message }) => [line, message]))
      assert.equal(new Set([1, 2, 5].map((line) => messages.get(line))).size, 1)
      assert.match(messages.get(6), /is there already, with another token/)
      const [group] = await groupsOf(ours)
      assert.deepEqual([group.provided_id, group.name, group.mapping], ['b', 'The second line of b', {}])
      assert.equal((await verify(free, ours)).active, true)
      assert.equal((await verify(taken, theirs)).active, true)
      assert.equal(await rawCount(terminal.environment, `mapping_entry where team_id = ${ours[1]}`), 0)
    })

    it('keeps the token of a group that was deleted, which then leads elsewhere', async () => {
      const team = await terminal.newTeam()
      const made = await terminal.perform(team, 'user_group.get_or_create', { body: { user_group_id: 'acme' } })
      const { token } = made.user_group
      assert.equal((await terminal.reading('', 'user-group', 'delete', 'acme', ...team)).code, 0)
      assert.equal((await verify(token, team)).reason, 'unknown')
      const line = { user_group_id: 'acme again', token }
      const { code, summary } = await importing(jsonLines([line]), ...team)
      assert.deepEqual([code, summary], [0, { created: 1, already_there: 0, refused: 0 }])
      assert.equal((await importing(jsonLines([line]), ...team)).summary.already_there, 1)
      assert.equal((await verify(token, team)).user_group.provided_id, 'acme again')
      const rotated = await terminal.perform(team, 'user_group.rotate_token', { body: { current_token: token } })
      assert.equal(rotated.user_group.provided_id, 'acme again')
      assert.equal((await verify(token, team)).reason, 'rotated')
      const other = await importing(jsonLines([{ user_group_id: 'other', token }]), ...team)
      assert.equal(other.summary.refused, 1)
    })

    it('holds a strict team to the data sources it has, but not for groups that are there already', async () => {
      const team = await terminal.newTeam()
      await terminal.importLines(team, { user_group_id: 'before' })
      await terminal.perform(team, 'team.update', { body: { strict_mapping: true } })
      await terminal.perform(team, 'schema.create', { body: { id: 'sales' } })
      await terminal.perform(team, 'data_source.create', { body: { schema_id: 'sales', provided_id: 'db' } })
      const lines = ['before', 'bad', 'good'].map((id) => {
        return { user_group_id: id, mapping: { sales: id === 'good' ? 'db' : 'nothing' } }
      })
      const { code, summary, stderr } = await importing(jsonLines(lines), ...team)
      assert.deepEqual([code, summary], [1, { created: 1, already_there: 1, refused: 1 }])
      assert.match(stderr, /^line 2: mapping\.sales names no data source/m)
      assertRefusal(
        await terminal.run('data-source', 'delete', 'db', ...team),
        /1 user group is mapped to this data source/,
        /Nothing was changed/,
      )
    })

    it('reads CSV with quotes, line breaks in them, a byte order mark and CRLF', async () => {
      const team = await terminal.newTeam()
      const csv = [
        '\ufeffuser_group_id,mapping,"name",colour,properties,disabled',
        'plain,,,red,,',
        '"quoted, ""so""","{""sales"":\r\n ""db""}","Ünï ""code""",,"{""a"":1}",TRUE',
        'few',
        'a"b,,,,,',
        'odd,,,,,maybe',
        ' spaces ,,,,,False',
        '"left open,,,,,',
      ]
      const { code, summary, stderr } = await importing(csv.join('\r\n'), ...team, '--format', 'csv')
      assert.deepEqual([code, summary], [1, { created: 3, already_there: 0, refused: 4 }])
      assert.match(stderr, /ignored: colour/)
      assert.match(stderr, /^line 5: The record has 1 cell, and the header 6\.$/m)
      const groups = await groupsOf(team)
      assert.deepEqual(
        groups.map(({ provided_id, name, mapping, properties, disabled }: Record<string, unknown>) => [
          ...[provided_id, name, mapping, properties, disabled],
        ]),
        [
          ['plain', 'plain', {}, {}, false],
          ['quoted, "so"', 'Ünï "code"', { sales: 'db' }, { a: 1 }, true],
          [' spaces ', ' spaces ', {}, {}, false],
        ],
      )
      assertRefusal(
        await terminal.reading('name\nx\n', 'user-group', 'import', '-', '--format', 'csv'),
        /user_group_id/,
        /Begin/,
      )
    })

    it('ends as if nothing had happened when it is killed in the middle and run again', async () => {
      const team = await terminal.newTeam()
      const groups = times(3_500, (index) => {
        return {
          user_group_id: `group ${index}`,
          mapping: { sales: `db ${index}` },
          token: `token-of-group-${index}-${team[1]}`,
        }
      })
      const ofTeam = `where team_id = ${team[1]}`
      const killed = spawnUgs(terminal.environment, 'user-group', 'import', '-', ...team)
      killed.stdin.on('error', () => {})
      killed.stdin.write(jsonLines(groups.slice(0, 2_600)))
      await eventually('two batches are stored', async () => {
        return (await rawCount(terminal.environment, `user_group ${ofTeam}`)) >= 2_000
      })
      killed.kill('SIGKILL')
      await once(killed, 'close')

      const file = terminal.file(`groups of ${team[1]}.jsonl`)
      writeFileSync(file, jsonLines(groups))
      const summary = await terminal.json('user-group', 'import', file, ...team)
      assert.deepEqual(summary, { created: 1_500, already_there: 2_000, refused: 0 })
      for (const rows of [`user_group ${ofTeam}`, `mapping_entry ${ofTeam}`, `event ${ofTeam}`])
        assert.equal(await rawCount(terminal.environment, rows), 3_500, rows)
      const exported = await terminal.run('user-group', 'export', '-', ...team, '--with-tokens')
      const kept = exported.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      assert.deepEqual(
        kept.map(({ user_group_id, mapping, token }) => ({ user_group_id, mapping, token })),
        groups,
      )
    })

    for (const [what, content] of [
      ['mappings', { mapping: Object.fromEntries(times(200, (index) => [`schema ${index}`, 'db'])) }],
      ['properties', { properties: { text: 'x'.repeat(60_000) } }],
    ] as const)
      it(`stores a few groups with large ${what} at a time, so that nobody waits long for them`, async (t) => {
        const team = await terminal.newTeam()
        const stored = () => rawCount(terminal.environment, `user_group where team_id = ${team[1]}`)
        const importer = spawnUgs(terminal.environment, 'user-group', 'import', '-', ...team)
        t.after(() => importer.kill('SIGKILL'))
        const ended = once(importer, 'close')
        importer.stdin.write(jsonLines(times(40, (index) => ({ user_group_id: `group ${index}`, ...content }))))
        await eventually('some are stored before the last has come', async () => (await stored()) > 0)
        assert.ok((await stored()) < 40)
        importer.stdin.end()
        assert.deepEqual(await ended, [0, null])
        assert.equal(await stored(), 40)
      })

    it('creates each group once when two run at the same time', async () => {
      const team = await terminal.newTeam()
      const groups = times(2_000, (index) => ({ user_group_id: `group ${index}` }))
      const ended = await Promise.all([
        importing(jsonLines(groups), ...team),
        importing(jsonLines(groups.toReversed()), ...team),
      ])
      for (const { code, stderr } of ended) assert.equal(code, 0, stderr)
      const sum = (field: string) => ended.reduce((total, { summary }) => total + summary[field], 0)
      assert.deepEqual([sum('created'), sum('already_there')], [2_000, 2_000])
      const events = await rawCount(terminal.environment, `event where team_id = ${team[1]}`)
      assert.equal(events, 2_000)
    })

    it('says what is wrong with a file it cannot read', async () => {
      const missing = terminal.file('missing.csv')
      assertRefusal(await terminal.run('user-group', 'import', missing), /cannot be read/, /Check the name/)
    })

    it('begins only when what is refused can be written, and not over what it reads', async () => {
      const team = await terminal.newTeam()
      const file = terminal.file(`unrefused of ${team[1]}.jsonl`)
      const lines = jsonLines([{ user_group_id: 'acme' }])
      writeFileSync(file, lines)
      const refused = (place: string) => terminal.run('user-group', 'import', file, ...team, '--refused', place)
      symlinkSync(file, `${file}.link`)
      const [same, nowhere] = await Promise.all([refused(`${file}.link`), refused(terminal.file('no/such/folder'))])
      assertRefusal(same, /is the file that is imported/, /another file for --refused/)
      assertRefusal(nowhere, /The refused lines cannot be written/, /another file for --refused/)
      assert.equal(readFileSync(file, 'utf8'), lines)
      assert.equal(await rawCount(terminal.environment, `user_group where team_id = ${team[1]}`), 0)
    })

    it('says what was created, though it cannot write what is refused', {
      skip: !existsSync('/dev/full'),
    }, async () => {
      const team = await terminal.newTeam()
      const lines = jsonLines([{ user_group_id: 'acme' }, { user_group_id: '' }])
      const ended = await terminal.reading(
        lines,
        ...['user-group', 'import', '-', '--format', 'jsonl', ...team, '--refused', '/dev/full'],
      )
      assertRefusal(ended, /The refused lines cannot be written/, /another file for --refused.* 1 user group created/)
    })
  })

describe('ugs user-group import', () => {
  const terminal = atTerminal(engines[0] as Engine)

  for (const [signal, status] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)
    it(`says how far it came when ${signal} ends it, and that it can go on, and exits as if by the signal`, async () => {
      const team = await terminal.newTeam()
      const stored = () => rawCount(terminal.environment, `user_group where team_id = ${team[1]}`)
      const ended = spawnUgs(terminal.environment, 'user-group', 'import', '-', ...team)
      const printed = Promise.all([ended.stdout.toArray(), ended.stderr.setEncoding('utf8').toArray()])
      ended.stdin.write(jsonLines(times(1_500, (index) => ({ user_group_id: `group ${index}` }))))
      await eventually('a batch is stored', async () => (await stored()) > 0)
      ended.kill(signal)
      assert.deepEqual(await once(ended, 'close'), [status, null])
      const stderr = (await printed)[1].join('')
      const far = /No line was imported by half\. 1000 user groups created so far: run it again, and it goes on/
      assertRefusal({ code: 1, stdout: '', stderr }, new RegExp(`The import was ended by ${signal}`), far)
      assert.equal(await stored(), 1_000)
    })

  it('can be ended while nobody reads what it refuses', { timeout: 30_000 }, async (t) => {
    const team = await terminal.newTeam()
    const pipe = terminal.file('unread')
    execFileSync('mkfifo', [pipe])
    const reader = await open(pipe, 'r+')
    t.after(() => reader.close())
    const importing = spawnUgs(terminal.environment, 'user-group', 'import', '-', ...team, '--refused', pipe)
    importing.stdin.end(jsonLines(times(3_000, () => ({ user_group_id: '' }))))
    await reader.read(Buffer.alloc(1))
    let isOver = false
    importing.once('exit', () => {
      isOver = true
    })
    await eventually('it ends', () => isOver || (importing.kill('SIGTERM') && false))
  })
})
