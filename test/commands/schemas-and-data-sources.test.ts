import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { assertQuiet, assertRefusal } from '../support/refusal.ts'
import { atTerminal } from './terminal.ts'

const password = 'the-password-of-the-data-source'

// An operation is tried on both engines over HTTP; at the terminal it is the same one.
const [sqlite = assert.fail()] = engines

describe('schemas and data sources at the terminal on SQLite', () => {
  const terminal = atTerminal(sqlite)
  let team: ['--team', string]
  before(async () => {
    team = await terminal.newTeam()
    await terminal.json('schema', 'create', 'sales', '--name', 'Sales', ...team)
  })

  it('are made, listed, shown and deleted', async () => {
    const made = await terminal.json('schema', 'create', ...team)
    assert.match(made.id, /^sch_/)
    assert.deepEqual(await terminal.json('schema', 'show', made.id, ...team), made)
    const listed = await terminal.json('schema', 'list', ...team)
    assert.deepEqual(
      listed.map(({ id }: { id: string }) => id),
      ['sales', made.id],
    )
    assert.match((await terminal.run('schema', 'list', ...team)).stdout, /^ID +NAME +CREATED\nsales +Sales +\d{4}-/)
    assert.deepEqual(await terminal.json('schema', 'delete', made.id, ...team), { deleted: made.id })
    assertRefusal(await terminal.run('schema', 'show', made.id, ...team), /no schema with that id/, /--team/)
    assertRefusal(await terminal.run('schema', 'create', 'sales', ...team), /that id already/, /Nothing was changed/)
  })

  it('take a connection from a file or standard input, and never show it again', async () => {
    const file = terminal.file('connection.json')
    writeFileSync(file, JSON.stringify({ host: 'db', password }))
    const fields = ['--schema', 'sales', '--provided-id', 'acme-db', '--kind', 'postgres']
    const made = await terminal.run('data-source', 'create', ...fields, '--connection-file', file, ...team, '--json')
    assertQuiet(made, [password])
    const source = JSON.parse(made.stdout)
    assert.deepEqual([source.provided_id, source.schema_id, source.kind], ['acme-db', 'sales', 'postgres'])
    assert.equal('connection' in source, false)
    const update = ['data-source', 'update', 'acme-db', '--connection-file', '-', '--name', 'Acme', ...team]
    const updated = await terminal.reading(`{"password":"${password} 2"}`, ...update)
    assert.equal(updated.code, 0, updated.stderr)
    assertQuiet(updated, [password])
    const shown = await terminal.json('data-source', 'show', source.id, ...team)
    assert.deepEqual(shown, { ...source, name: 'Acme', updated_at: shown.updated_at })
    assert.deepEqual(await terminal.json('data-source', 'list', ...team), [shown])

    const broken = await terminal.reading(`{"password":"${password}"`, ...update)
    assertRefusal(broken, /not valid JSON/, /one JSON object/, [password])
    const inLatin1 = await terminal.reading(Buffer.from(`{"password":"M\xfcller ${password}"}`, 'latin1'), ...update)
    assertRefusal(inLatin1, /not text in UTF-8/, /Save it in UTF-8/, [password])
    const inexact = await terminal.reading('{"port":12345678901234567890}', ...update)
    assertRefusal(inexact, /connection\.port would lose digits/, /nothing was changed/)
    assertRefusal(await terminal.reading('[]', ...update), /connection must be a JSON object/, /nothing was changed/)
  })

  it('open for a user group by its mapping, and stay while they are in use', async () => {
    const own = await terminal.newTeam()
    const token = `a-token-of-team-${own[1]}`
    await terminal.json('schema', 'create', 'sales', ...own)
    const { id } = await terminal.json('data-source', 'create', '--schema', 'sales', '--provided-id', 'db', ...own)
    await terminal.importLines(own, { user_group_id: 'acme', token, mapping: { sales: 'db', other: 'nothing' } })
    const answer = JSON.parse((await terminal.reading(token, 'user-group', 'verify', ...own, '--json')).stdout)
    assert.deepEqual(answer.data_sources, { sales: { id, provided_id: 'db', name: 'db' } })
    assert.deepEqual(answer.unresolved, ['other'])
    assertRefusal(await terminal.run('data-source', 'delete', 'db', ...own), /1 user group is mapped/, /./)
    assertRefusal(await terminal.run('schema', 'delete', 'sales', ...own), /1 data source belongs/, /./)
    await terminal.json('user-group', 'delete', 'acme', ...own)
    assert.deepEqual(await terminal.json('data-source', 'delete', 'db', ...own), { deleted: 'db' })
    assert.deepEqual(await terminal.json('schema', 'delete', 'sales', ...own), { deleted: 'sales' })
  })

  it('keep to the rules of the service', async () => {
    const create = (...args: string[]) => terminal.run('data-source', 'create', ...args, ...team)
    assertRefusal(await create('--schema', 'none'), /schema_id names no schema/, /nothing was changed/)
    const taken = await create('--schema', 'sales', '--provided-id', 'ds_mine')
    assertRefusal(taken, /provided_id must be .+ not beginning with ds_/, /nothing was changed/)
    const [unnamed, unchanged] = await Promise.all([create(), terminal.run('data-source', 'update', 'x', ...team)])
    assert.deepEqual([unnamed.code, unchanged.code], [2, 2])
  })
})
