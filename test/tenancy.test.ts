import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { readConfig } from '../src/config.ts'
import type { TeamOperation } from '../src/http/operation.ts'
import { operations } from '../src/operations.ts'
import { openService } from '../src/service.ts'
import { Caller } from './support/caller.ts'
import { engines } from './support/engines.ts'
import { newTeam } from './support/new-team.ts'
import { running } from './support/running.ts'

const teamOperations = operations.filter((operation): operation is TeamOperation => operation.scope !== null)

/** What the examples of the operations name, and what a team that never had any of it would name instead. */
const exampleNames = ['acme-db', 'acme', 'Acme', 'sales', 'Sales']
const nobodys: Record<string, string> = {
  'acme-db': 'nobody-db',
  acme: 'nobody',
  Acme: 'Nobody',
  sales: 'nothing',
  Sales: 'Nothing',
}

for (const engine of engines)
  describe(`a stranger's team on ${engine.name}`, async () => {
    const { service, environment } = await running(undefined, engine)
    const beside = await openService(readConfig(environment))
    after(() => beside.store.close())

    const newCaller = async (): Promise<Caller> => {
      const { apiToken } = await newTeam(beside)
      const caller = new Caller(service.url, apiToken, 2)
      after(() => caller.close())
      return caller
    }

    const owner = await newCaller()
    const made = await furnish(owner)
    const before = await everythingOf(owner)

    for (const operation of teamOperations)
      it(`gets from ${operation.id} for the owner's ids what it gets for ids nobody has, and changes nothing`, async () => {
        const asked = await send(await newCaller(), operation, (text) => replaceAll(text, made.owners))
        const unknown = await send(await newCaller(), operation, (text) => replaceAll(text, made.unknown))
        assert.deepEqual(asked, unknown)
        assert.deepEqual(await everythingOf(owner), before)
        assert.equal((await owner.verify(made.token)).body.active, true)
      })

    it('resolves no mapping to the data source of another', async () => {
      const stranger = await newCaller()
      const mapping = { sales: 'acme-db', other: made.dataSourceId }
      const group = await stranger.getOrCreate('mine', { mapping })
      const verified = await stranger.verify(group.body.user_group.token)
      assert.deepEqual(verified.body.data_sources, {})
      assert.deepEqual(verified.body.unresolved, ['sales', 'other'])
    })

    it('reads from a cursor of another only its own groups', async () => {
      const stranger = await newCaller()
      await stranger.getOrCreate('mine')
      const { body } = await owner.call('GET', '/api/user_groups?limit=1')
      const page = await stranger.call('GET', `/api/user_groups?cursor=${body.next_cursor}`)
      const ids = page.body.user_groups.map((group: { provided_id: string }) => group.provided_id)
      assert.deepEqual(ids, ['mine'])
    })
  })

/** Gives the owner all that the examples name, and says which values of the examples stand for what. */
async function furnish(owner: Caller) {
  await owner.call('POST', '/api/schemas', { json: { id: 'sales', name: 'Sales' } })
  const source = await owner.call('POST', '/api/data_sources', {
    json: { schema_id: 'sales', provided_id: 'acme-db', name: 'Acme DB', connection: { password: 'secret' } },
  })
  const group = await owner.getOrCreate('acme', { mapping: { sales: 'acme-db' } })
  await owner.getOrCreate('acme-2')
  const apiToken = await owner.call('POST', '/api/api_tokens', { json: { name: 'second', scopes: ['admin'] } })
  const { token } = group.body.user_group
  const dataSourceId = source.body.data_source.id
  const someoneElses = await owner.getOrCreate('for-an-unknown-token')
  const unknownToken = someoneElses.body.user_group.token
  await owner.call('DELETE', '/api/user_groups/for-an-unknown-token')
  const owners: [RegExp, string][] = [
    [/ugt_\w{38}/g, token],
    [/ds_\w{20}/g, dataSourceId],
    [/\b\d{15}\b/g, String(apiToken.body.api_token.id)],
  ]
  const unknown: [RegExp, string][] = [
    ...exampleNames.map((name): [RegExp, string] => [new RegExp(`\\b${name}\\b`, 'g'), nobodys[name] ?? '']),
    [/ugt_\w{38}/g, unknownToken],
    [/ds_\w{20}/g, 'ds_00000000000000000000'],
    [/\b\d{15}\b/g, '100000000000001'],
  ]
  return { token, dataSourceId, owners, unknown }
}

function replaceAll(text: string, replacements: readonly [RegExp, string][]): string {
  return replacements.reduce((replaced, [pattern, by]) => replaced.replaceAll(pattern, by), text)
}

/** The example of an operation under other names; the answer with all that may differ between two calls taken out. */
async function send(caller: Caller, { method, path, example }: TeamOperation, rename: (text: string) => string) {
  const { id, body } = JSON.parse(rename(JSON.stringify({ id: example?.id ?? '', body: example?.body })))
  const query = new URLSearchParams(example?.query).toString()
  const target = path.replace(/\{\w+\}/, encodeURIComponent(id)) + (query && `?${query}`)
  const answer = await caller.call(method, target, body === undefined ? {} : { json: body })
  const text = JSON.stringify(answer.body)
    .replaceAll(/"request_id":"[^"]+"/g, '"request_id"')
    // Noted beside the request: perhaps before it is answered, perhaps behind.
    .replaceAll(/"last_used_at":("[^"]+"|null)/g, '"last_used_at"')
    .replaceAll(/ug[ta]_\w{38}|ds_\w{20}|\b\d{15}\b|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(varies)')
    .replaceAll(/"(team_id|id)":\d+/g, '"$1"')
  return {
    status: answer.status,
    body: replaceAll(
      text,
      exampleNames.map((name) => [new RegExp(`\\b${nobodys[name]}\\b`, 'g'), name]),
    ),
  }
}

async function everythingOf(owner: Caller) {
  const paths = ['/api/user_groups', '/api/schemas', '/api/data_sources', '/api/api_tokens', '/api/team', '/api/events']
  const answers = await Promise.all(paths.map((path) => owner.call('GET', path)))
  return answers.map(({ body }) => JSON.stringify(body).replaceAll(/"last_used_at":("[^"]+"|null)/g, ''))
}
