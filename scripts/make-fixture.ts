// Writes the fixture of the newest migration, on both engines: run it when you add one ("npm run fixture").
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { currentVersion, type Exchange, type FixtureRecord, fixtureFiles, folder } from '../campaigns/fixture.ts'
import type { Caller } from '../test/support/caller.ts'
import { runCommand, startReading } from '../test/support/command.ts'
import { type Engine, engines } from '../test/support/engines.ts'
import { dumpDatabase } from '../test/support/plain-dump.ts'
import { createPostgres } from '../test/support/postgres-server.ts'
import { Premises } from '../test/support/premises.ts'
import { testApiToken } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'

const version = currentVersion()
const postgres = await createPostgres()
try {
  await postgres.start()
  process.env.TEST_POSTGRES_URL = postgres.url
  mkdirSync(folder, { recursive: true })
  for (const engine of engines) await makeFixture(engine)
} finally {
  await postgres.remove()
}

async function makeFixture(engine: Engine): Promise<void> {
  const files = fixtureFiles(version, engine)
  if (existsSync(files.dump)) {
    process.stdout.write(`${files.dump} is there already: a database of the past does not change.\n`)
    return
  }
  const premises = await Premises.open(undefined, engine)
  try {
    const record = await populate(premises)
    writeFileSync(files.dump, await dumpDatabase(premises.environment))
    writeFileSync(files.record, inLines(record))
    process.stdout.write(`${files.dump} and its record are written.\n`)
  } finally {
    await premises.close()
  }
}

/** Something of everything that is stored. */
async function populate(premises: Premises): Promise<FixtureRecord> {
  const { environment } = premises
  const service = await premises.start()
  const { caller } = service
  await run(environment, 'team', 'create', 'Second team')
  const second = JSON.parse(
    await run(environment, 'api-token', 'create', 'second', '--team', '2', '--scope', 'admin', '--json'),
  ).token
  const other = premises.call(service, second)
  await call(caller, 'POST', '/api/api_tokens', {
    name: 'verifier',
    scopes: ['verify'],
    expires_at: '2999-01-01T00:00:00.000Z',
  })
  const { api_token } = await call(caller, 'POST', '/api/api_tokens', { name: 'revoked', scopes: ['verify'] })
  await call(caller, 'DELETE', `/api/api_tokens/${api_token.id}`)
  await call(caller, 'POST', '/api/schemas', { id: 'sales', name: 'Sales' })
  const source = {
    schema_id: 'sales',
    provided_id: 'acme-db',
    name: 'Acme DB',
    connection: { host: 'db', password: 'secret' },
  }
  await call(caller, 'POST', '/api/data_sources', source)
  const line = JSON.stringify({ user_group_id: 'imported', token: 'a-token-from-elsewhere' })
  const imported = await startReading(`${line}\n`, environment, 'user-group', 'import', '-').ended
  if (imported.code !== 0) throw new Error(imported.stderr)

  const ids = ['acme', 'Ünïcode ☃ / "quoted"', 'disabled', 'renamed', ...times(8, (index) => `group ${index}`)]
  for (const id of [...ids, 'deleted']) {
    const more = {
      name: `Name of ${id}`,
      mapping: { sales: 'acme-db', gone: 'nowhere' },
      properties: { id, nested: [1.5, null] },
    }
    await call(caller, 'GET', '/api/user', { user_group_id: id, ...more })
  }
  await call(other, 'GET', '/api/user', { user_group_id: 'acme', name: 'Of the second team' })
  await call(caller, 'PATCH', '/api/user_groups/disabled', { disabled: true })
  await call(caller, 'PATCH', '/api/user_groups/renamed', {
    provided_id: 'renamed since',
    mapping: { sales: 'acme-db' },
  })
  await call(caller, 'DELETE', '/api/user_groups/deleted')
  await call(caller, 'PATCH', '/api/team', { name: 'First', strict_mapping: true })

  const groups: FixtureRecord['groups'] = []
  for (const [index, id] of ['imported', ...ids].entries()) {
    const providedId = id === 'renamed' ? 'renamed since' : id
    let { token } = (await call(caller, 'GET', '/api/user', { user_group_id: providedId })).user_group
    const former: string[] = []
    for (let rotation = 0; rotation < index % 3; rotation++) {
      former.push(token)
      token = (await call(caller, 'POST', '/api/user', { current_token: token })).user_group.token
    }
    groups.push({ id: providedId, token, former })
  }
  const callers = [caller, other]
  const exchanges = await Promise.all(questions(groups).map((question) => ask(callers, question)))
  const { events } = (await call(caller, 'GET', '/api/events?limit=200')) as { events: { id: number }[] }
  await service.stop()
  return {
    masterKey: environment.UGS_MASTER_KEY ?? '',
    apiTokens: [testApiToken, second],
    ...{ exchanges, groups, lastEvent: events.at(-1)?.id ?? 0 },
  }
}

type Question = Omit<Exchange, 'status' | 'body'>

function questions(groups: FixtureRecord['groups']): Question[] {
  const get = (path: string) => [0, 1].map((caller) => ({ caller, method: 'GET', path }))
  const verify = (caller: number, token: string) => ({ caller, method: 'POST', path: '/api/verify', json: { token } })
  return [
    ...['/api/team', '/api/schemas', '/api/data_sources', '/api/data_sources/acme-db'].flatMap(get),
    ...['/api/user_groups?limit=200', '/api/user_groups/acme', '/api/events?limit=200'].flatMap(get),
    ...groups.flatMap(({ id, token, former }) => [
      { caller: 0, method: 'GET', path: '/api/user', json: { user_group_id: id } },
      { caller: 0, method: 'GET', path: `/api/user_groups/${encodeURIComponent(id)}` },
      ...[token, ...former].map((each) => verify(0, each)),
      ...former.map((each) => ({ caller: 0, method: 'POST', path: '/api/user', json: { current_token: each } })),
      verify(1, token),
    ]),
  ]
}

async function ask(callers: readonly Caller[], question: Question): Promise<Exchange> {
  const { method, path, json } = question
  const answer = await callers[question.caller]?.call(method, path, json === undefined ? {} : { json })
  const { request_id, error, ...rest } = answer?.body ?? {}
  // The words of an error may change, its code may not.
  const body = error === undefined ? rest : { ...rest, error: { code: error.code } }
  return { ...question, status: answer?.status ?? 0, body }
}

/** JSON with a line for each exchange and each group. */
function inLines(record: FixtureRecord): string {
  const fields = Object.entries(record).map(([name, value]) => {
    const lines = Array.isArray(value) ? value.map((item) => `    ${JSON.stringify(item)}`) : undefined
    return `  ${JSON.stringify(name)}: ${lines ? `[\n${lines.join(',\n')}\n  ]` : JSON.stringify(value)}`
  })
  return `{\n${fields.join(',\n')}\n}\n`
}

async function call(caller: Caller, method: string, path: string, json?: unknown) {
  const { status, body } = await caller.call(method, path, json === undefined ? {} : { json })
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

async function run(environment: Premises['environment'], ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(environment, ...args)
  if (code !== 0) throw new Error(stderr)
  return stdout
}
