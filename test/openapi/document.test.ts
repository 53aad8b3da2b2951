import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { docsPage } from '../../src/http/docs-page.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { operations } from '../../src/operations.ts'
import { version } from '../../src/version.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'

const committed = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
const [sqlite] = engines

interface Answers {
  responses: Record<string, { $ref?: string; headers?: object } | undefined>
}

const responses = (reference: string) => committed.components.responses[reference.split('/').at(-1) ?? '']

describe('the OpenAPI document', () => {
  it('is committed as it is generated; after a change run "npm run generate"', () => {
    const generated = JSON.parse(JSON.stringify(openApiDocument(operations, version)))
    assert.deepEqual(committed, generated)
  })

  it('describes every operation, and nothing else', () => {
    const described = Object.entries<object>(committed.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    assert.deepEqual(described.sort(), operations.map(({ method, path }) => `${method} ${path}`).sort())
  })

  it('says of a look-up, as the page does, that it changes nothing of a group that is there, and what does', () => {
    const page = docsPage(operations, version)
    for (const { description } of [committed.paths['/api/user'].get, committed.paths['/api/user_groups'].post]) {
      assert.match(
        description,
        /comes back as it is.*name, mapping and properties.*PATCH \/api\/user_groups\/\{provided_id\}/,
      )
      assert.ok(page.includes(description.replace(/ Needs an API token.*/, '')), description)
    }
  })

  it('describes the numbers of a query as numbers, with the least and the most', () => {
    const parameters = operations.flatMap(({ method, path }) => committed.paths[path][method.toLowerCase()].parameters)
    const of = (name: string) => parameters.filter((each) => each.name === name).map(({ schema }) => schema)
    assert.equal(of('limit').length, 5)
    for (const limit of of('limit'))
      assert.deepEqual(limit, { type: 'integer', minimum: 1, maximum: 200, default: 100 })
    for (const { type, minimum, maximum } of [...of('after'), ...of('by_api_token_id')])
      assert.ok(type === 'integer' && Number.isInteger(minimum) && Number.isSafeInteger(maximum))
  })

  it('says what a field means where its name does not', () => {
    const { GetOrCreateRequest, RotateRequest, TeamPatch, Team, AuditEvent } = committed.components.schemas
    const { name, mapping, properties } = GetOrCreateRequest.properties
    const { content } = committed.paths['/api/verify'].post.responses['200']
    const { data_sources, expires_at } = content['application/json'].schema.properties
    for (const [{ description }, meaning] of [
      [name, /user_group_id/],
      [mapping, /id or provided_id of a data source/],
      [mapping.additionalProperties, /id or provided_id of a data source/],
      [properties, /lose digits/],
      [RotateRequest.properties.grace_seconds, /old token still verifies.*by default 0.*all earlier/],
      [TeamPatch.properties.strict_mapping, /data source that .* not .*schema .* not checked/],
      [Team.properties.strict_mapping, /data source that .* not .*schema .* not checked/],
      [data_sources, /mapping/],
      [expires_at, /grace/],
      [AuditEvent.properties.renamed_to, /id of the user group.*provided_id of the data source/],
    ])
      assert.match(String(description), meaning)
    for (const [field, { description }] of Object.entries<{ description?: string }>(AuditEvent.properties))
      assert.ok(description, `${field} of an event`)
  })

  it('tells of the headers of every answer', () => {
    const everywhere = Object.values<Record<string, Answers>>(committed.paths).flatMap(Object.values<Answers>)
    const ofStatus = (status: string) =>
      everywhere.flatMap(({ responses: { [status]: answer } }) =>
        answer === undefined ? [] : [Object.keys((answer.$ref ? responses(answer.$ref) : answer).headers ?? {})],
      )
    const rates = ['RateLimit', 'RateLimit-Policy']
    for (const names of ofStatus('401')) assert.deepEqual(names, ['X-Request-Id', 'WWW-Authenticate'])
    for (const names of ofStatus('429')) assert.deepEqual(names, ['X-Request-Id', 'Retry-After', ...rates])
    for (const names of ofStatus('503')) assert.deepEqual(names.slice(0, 2), ['X-Request-Id', 'Retry-After'])
    for (const path of ['/api/user', '/healthz'])
      assert.deepEqual(Object.keys(committed.paths[path].get.responses['200'].headers), [
        'X-Request-Id',
        ...(path === '/healthz' ? [] : rates),
      ])
  })

  it('has no reference that leads nowhere', () => {
    const references = JSON.stringify(committed).matchAll(/"\$ref":"#\/([^"]+)"/g)
    for (const [, reference = ''] of references) {
      const target = reference.split('/').reduce((at, key) => at?.[key], committed)
      assert.notEqual(target, undefined, reference)
    }
  })

  it('is served without a token, as is the page for people, which loads nothing from outside', async (t) => {
    if (sqlite === undefined) throw new Error('no engine')
    const { caller } = await running(t, sqlite)
    const headers = { authorization: '' }
    const served = await caller.call('GET', '/api/openapi.json', { headers })
    assert.equal(served.status, 200)
    assert.deepEqual(served.body, committed)
    const page = await caller.call('GET', '/api/docs', { headers })
    assert.equal(page.status, 200)
    assert.match(String(page.headers['content-type']), /^text\/html/)
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
    assert.doesNotMatch(page.body, /(src|href)="(https?:)?\/\//)
    assert.doesNotMatch(page.body, /<script/)
    for (const { path } of operations) assert.ok(page.body.includes(path), path)
  })
})
