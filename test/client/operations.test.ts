import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CallOptions } from '../../client/src/call.ts'
import { operations } from '../../src/operations.ts'
import { times } from '../support/times.ts'
import { clientOf, failure, runningOnSqlite } from './client.ts'

describe('the client, method by method', async () => {
  const { service } = await runningOnSqlite()
  /** Every request it has sent, with the id in a path as {}. */
  const sent = new Set<string>()
  const client = clientOf(service.url, {
    fetch: (url, init) => {
      sent.add(`${init.method} ${new URL(url).pathname.replace(/^(\/api\/\w+)\/.+$/, '$1/{}')}`)
      return fetch(url, init)
    },
  })

  it('finds, creates, rotates and verifies', async () => {
    const made = await client.getOrCreate({ user_group_id: 'acme', name: 'Acme', properties: { region: 'eu' } })
    assert.equal(made.new_user_group, true)
    const { token } = made.user_group
    assert.deepEqual(await client.getOrCreate({ user_group_id: 'acme' }), { ...made, new_user_group: false })

    const { user_group: rotated } = await client.rotate(token, { grace_seconds: 60, provided_id: 'acme' })
    assert.equal((await client.getOrCreate({ user_group_id: 'acme' })).user_group.token, rotated.token)
    const inGrace = await client.verify(token)
    assert.ok(inGrace.active && inGrace.expires_at !== null)
    const verified = await client.verify(rotated.token)
    assert.deepEqual(verified, {
      success: 1,
      active: true,
      user_group: { team_id: 1, name: 'Acme', provided_id: 'acme' },
      data_sources: {},
      properties: { region: 'eu' },
      expires_at: null,
    })
    assert.deepEqual(await client.verify('ugt_nobody'), { success: 1, active: false, reason: 'unknown' })
    assert.equal((await failure(client.rotate(token))).code, 'token_already_rotated')
  })

  it('shows, changes, renames and deletes a user group, whatever its id', async () => {
    for (const id of ['a/b c?d#e%', 'grüße 🎉', '...', "'"]) {
      await client.getOrCreate({ user_group_id: id })
      assert.equal((await client.getUserGroup(id)).user_group.provided_id, id)
      assert.equal((await client.updateUserGroup(id, { disabled: true })).user_group.disabled, true)
      const { user_group } = await client.updateUserGroup(id, { provided_id: `${id}2` })
      assert.equal(user_group.provided_id, `${id}2`)
      assert.deepEqual(await client.deleteUserGroup(`${id}2`), { success: 1 })
      const { code, status, requestId } = await failure(client.getUserGroup(`${id}2`))
      assert.deepEqual([code, status, typeof requestId], ['user_group_not_found', 404, 'string'])
    }
    for (const id of ['', '.', '..', '\ud800', undefined as unknown as string])
      assert.equal((await failure(client.deleteUserGroup(id))).code, 'invalid_request')
  })

  it('asks for nothing whose text would arrive as another', async () => {
    await client.getOrCreate({ user_group_id: '\ufffd of somebody else' })
    for (const asking of [
      client.listUserGroups({ q: '\ud800' }),
      client.listEvents({ user_group: '\ud800 of somebody else' }),
    ]) {
      const { code, field } = await failure(asking)
      assert.deepEqual([code, /^(q|user_group)$/.test(field ?? '')], ['invalid_request', true])
    }
  })

  it('manages schemas, data sources, API tokens and the team', async () => {
    const { schema } = await client.createSchema({ id: 'sales' })
    assert.deepEqual(await client.getSchema('sales'), { success: 1, schema })
    assert.deepEqual((await client.listSchemas()).schemas, [schema])
    const { data_source } = await client.createDataSource({ schema_id: 'sales', provided_id: 'db' })
    for (const id of ['db', data_source.id]) assert.deepEqual((await client.getDataSource(id)).data_source, data_source)
    assert.deepEqual((await client.listDataSources()).data_sources, [data_source])
    const change = { provided_id: 'db2', connection: { password: 'secret' } }
    assert.equal((await client.updateDataSource('db', change)).data_source.provided_id, 'db2')
    assert.equal((await client.updateDataSource(data_source.id, { provided_id: 'db3' })).data_source.provided_id, 'db3')
    assert.equal((await failure(client.deleteSchema('sales'))).code, 'conflict')
    await client.deleteDataSource('db3')
    await client.deleteSchema('sales')

    const { api_token } = await client.createApiToken({ name: 'verifier', scopes: ['verify'] })
    const verifier = clientOf(service.url, { apiToken: api_token.token })
    assert.equal((await verifier.verify('ugt_nobody')).active, false)
    assert.equal((await failure(verifier.getTeam())).code, 'insufficient_scope')
    assert.ok((await client.listApiTokens()).api_tokens.some(({ id }) => id === api_token.id))
    await client.revokeApiToken(api_token.id)
    assert.equal((await failure(verifier.verify('ugt_nobody'))).code, 'invalid_api_token')

    assert.equal((await client.updateTeam({ strict_mapping: true })).team.strict_mapping, true)
    const { code, field } = await failure(client.getOrCreate({ user_group_id: 'x', mapping: { sales: 'nowhere' } }))
    assert.deepEqual([code, field], ['unknown_data_source', 'mapping.sales'])
    assert.equal((await client.getTeam()).team.strict_mapping, true)
    assert.deepEqual([await client.healthz(), await client.readyz()], [{ success: 1 }, { success: 1 }])
  })

  it('goes through schemas, data sources and API tokens page by page', async () => {
    const { schema } = await client.createSchema({ id: 'first' })
    const { schema: second } = await client.createSchema({ id: 'second' })
    assert.deepEqual(await Array.fromAsync(client.schemas({ limit: 1 })), [schema, second])
    const sources = await Promise.all(times(3, () => client.createDataSource({ schema_id: 'first' })))
    const found = await Array.fromAsync(client.dataSources({ limit: 1 }), ({ id }) => id)
    assert.deepEqual(found.toSorted(), sources.map(({ data_source }) => data_source.id).toSorted())
    assert.equal((await Array.fromAsync(client.dataSources({ cursor: null }))).length, sources.length)
    const made = await client.createApiToken({ name: 'last', scopes: ['verify'] })
    assert.equal((await Array.fromAsync(client.apiTokens({ limit: 1 }))).at(-1)?.id, made.api_token.id)
  })

  it('goes through 450 user groups and their events, each once and in order', async () => {
    const ids = times(450, (index) => `many-${String(index).padStart(3, '0')}`)
    for (const user_group_id of ids) await client.getOrCreate({ user_group_id })
    const groups = await Array.fromAsync(client.userGroups({ q: 'many-' }))
    assert.deepEqual(
      groups.map(({ provided_id }) => provided_id),
      ids,
    )
    const { user_groups, next_cursor } = await client.listUserGroups({ limit: 7, cursor: null })
    assert.equal(user_groups.length, 7)
    assert.equal((await client.listUserGroups({ limit: 7, cursor: next_cursor })).user_groups.length, 7)

    const events = await Array.fromAsync(client.events())
    const created = events.filter(
      ({ kind, user_group }) => kind === 'user_group.created' && ids.includes(user_group ?? ''),
    )
    assert.equal(created.length, 450)
    const [first] = created
    const later = await Array.fromAsync(client.events({ after: first?.id, limit: 50 }))
    assert.deepEqual(later, events.slice(events.findIndex(({ id }) => id === first?.id) + 1))
    for await (const group of client.userGroups()) {
      assert.equal(group.provided_id, 'acme')
      break
    }
  })

  it('takes what it is given as it is at the moment of the call, whatever becomes of it later', async () => {
    const request = { user_group_id: 'taken', properties: { list: [1] } }
    const made = client.getOrCreate(request)
    request.user_group_id = 'later'
    assert.equal((await made).user_group.provided_id, 'taken')

    const change = { name: 'Taken', properties: { list: [1] } }
    const changed = client.updateUserGroup('taken', change)
    change.name = 'Later'
    change.properties.list.push(2)
    const { name, properties } = (await changed).user_group
    assert.deepEqual([name, properties], ['Taken', { list: [1] }])

    await client.createDataSource({ schema_id: 'first', provided_id: 'taken' })
    const options: CallOptions = {}
    const renaming = { provided_id: 'taken, renamed', name: 'Taken' }
    const renamed = [
      client.updateUserGroup('taken', renaming, options).then(({ user_group }) => user_group),
      client.updateDataSource('taken', renaming, options).then(({ data_source }) => data_source),
    ]
    const walk = client.userGroups({ q: 'taken' }, options)
    Object.assign(renaming, { provided_id: 'later', name: 'Later' })
    options.signal = AbortSignal.abort()
    for (const thing of await Promise.all(renamed))
      assert.deepEqual([thing.provided_id, thing.name], ['taken, renamed', 'Taken'])
    assert.equal((await walk.next()).value?.name, 'Taken')
  })

  // Last, when all of the above have sent theirs.
  it('leaves no operation of the service without a method', () => {
    const declared = operations.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/, '{}')}`)
    const uncalled = declared.filter((each) => each !== 'GET /api/user' && !sent.has(each))
    assert.deepEqual(uncalled, [], 'give them a method in client/src/user-group-service.ts and call it here')
  })
})
