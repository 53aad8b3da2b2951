import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { projectWithClient } from './packed-client.ts'
import { readmeExamples } from './readme-examples.ts'

const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))

const everywhere = `
import {
  type AuditEvent,
  type ErrorCode,
  UserGroupService,
  UserGroupServiceError,
  type UserGroupListAnswer,
} from 'user-group-service-client'

const client = new UserGroupService({ baseUrl: 'https://groups.example.com', apiToken: 'x', fetch })
export async function check(name: string | undefined): Promise<string> {
  const { user_group } = await client.getOrCreate({ user_group_id: 'acme', name })
  const verified = await client.verify(user_group.token)
  // @ts-expect-error: it may not be active
  verified.user_group.provided_id
  if (!verified.active) return verified.reason
  for await (const event of client.events({ after: 7 })) seen(event)
  // @ts-expect-error: the record of a user group has no token
  for await (const { token } of client.userGroups({ q: 'a' })) seen(token)
  // @ts-expect-error: there is no such field
  await client.updateUserGroup('acme', { nam: 'Acme' })
  return verified.user_group.provided_id
}
interface Shown {
  region: string
}
const shown: Shown = { region: 'eu' }
const scopes = ['verify'] as const
const mapping: Readonly<Record<string, string>> = { sales: 'db' }
export async function give(): Promise<void> {
  await client.getOrCreate({ user_group_id: 'acme', mapping, properties: shown })
  await client.createDataSource({ schema_id: 'sales', connection: shown })
  await client.createApiToken({ name: 'a', scopes })
  let cursor: string | null = null
  do {
    const page: UserGroupListAnswer = await client.listUserGroups({ cursor })
    cursor = page.next_cursor
  } while (cursor !== null)
}
function seen(event: AuditEvent): void {}
export function isLost(error: unknown): boolean {
  const code: ErrorCode = 'token_already_rotated'
  return error instanceof UserGroupServiceError && (error.code === 'answer_lost' || error.code === code)
}
`

const servers = `
import { createServer } from 'node:http'
import fastify, { type FastifyRequest } from 'fastify'
import { ProxyAgent, fetch as undiciFetch } from 'undici'
import { requireUserGroup, requireUserGroupHook, UserGroupService, userGroupOf } from 'user-group-service-client'

const client = new UserGroupService({ baseUrl: 'https://groups.example.com', apiToken: 'x' })
export const guard = requireUserGroup(client)
createServer((request, response) => guard(request, response, () => response.end(userGroupOf(request).user_group.name)))
export const hook = requireUserGroupHook(client)
fastify().get('/', { preHandler: hook }, async (request) => userGroupOf(request).data_sources.sales?.id)
fastify().addHook('onRequest', hook)
fastify().get<{ Reply: string }>('/', { preHandler: requireUserGroupHook(client) }, async () => '<h1>A dashboard</h1>')
fastify().get('/', { preHandler: requireUserGroupHook(client) }, async (request) => userGroupOf(request).properties)
fastify().addHook('onRequest', requireUserGroupHook(client))
const elsewhere = requireUserGroupHook(client, {
  token: ({ headers }) => headers['x-token']?.toString() ?? headers.cookie,
  onError: ({ code, status }) => console.error(code, status),
})
fastify().get('/', { preHandler: elsewhere }, async (request) => userGroupOf(request).properties)
const dispatcher = new ProxyAgent('http://proxy.example.com')
const settings = { baseUrl: 'https://groups.example.com', apiToken: 'x' }
new UserGroupService({ ...settings, fetch: undiciFetch })
new UserGroupService({ ...settings, fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }) })
new UserGroupService({ ...settings, fetch: (url: string, init: RequestInit) => fetch(url, init) })
const token = (request: FastifyRequest) => request.hostname
fastify().get('/', { preHandler: requireUserGroupHook(client, { token }) }, async () => 'a dashboard')
`

// Node's types cannot tell that a server on a port has an address with one.
const examples = readmeExamples.filter((text) => !text.includes('server.address().port'))
const exampleFiles = examples.map((_, index) => `example-${index}.ts`)

const options = { target: 'esnext', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true, noEmit: true }

describe("the client's types, seen from a project that has installed it", () => {
  const project = projectWithClient({
    'everywhere.ts': everywhere,
    'servers.ts': servers,
    ...Object.fromEntries(examples.map((text, index) => [exampleFiles[index], text])),
  })
  const compile = (files: string[], more: object) => {
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, ...more }, files }))
    execFileSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' })
  }

  it('need no types of Node, and hold with library checks on', () => {
    compile(['everywhere.ts'], { types: [], lib: ['esnext', 'dom'], skipLibCheck: false })
  })

  it('fit node:http, fastify and undici', () => {
    // A guard can be exported by a package that has declarations of its own.
    compile(['servers.ts'], { types: ['node'], lib: ['esnext'], skipLibCheck: true, declaration: true })
    compile(['everywhere.ts'], { types: ['node'], lib: ['esnext'], skipLibCheck: true })
  })

  it("make sense of the README's examples as TypeScript", () => {
    compile(exampleFiles, { types: ['node'], lib: ['esnext'], skipLibCheck: true })
  })
})
