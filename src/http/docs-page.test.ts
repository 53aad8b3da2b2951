import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { operations } from '../operations.ts'
import { docsPage } from './docs-page.ts'
import { errorCodes } from './openapi.ts'

describe('the page of the operations', () => {
  const page = docsPage(operations, '1.2.3 <beta>')
  const sections = new Map(page.split('<section>').map((text) => [/^<h2 id="([^"]+)"/.exec(text)?.[1], text]))

  for (const operation of operations)
    it(`has a section for ${operation.id}: who may, what goes in, what comes out, what can go wrong`, () => {
      const { id, method, path, scope } = operation
      assert.ok(page.includes(`<a href="#${id}">`), 'it can be found from the top')
      const section = sections.get(id) ?? ''
      assert.ok(section.includes(`<span class="method">${method}</span> ${path}</code>`))
      assert.ok(section.includes(scope === null ? 'Needs no API token.' : `Needs the scope <code>${scope}</code>.`))
      for (const part of ['query', 'body'] as const) {
        const schema = scope === null ? undefined : operation[part]
        const { properties = {}, required = [] } = (schema ?? {}) as { properties?: object; required?: string[] }
        for (const field of required)
          assert.match(section, new RegExp(`<code>${field}</code></td><td><span class="required">required</span>`))
        for (const field of Object.keys(properties))
          assert.ok(section.includes(`<td><code>${field}</code></td>`), field)
      }
      for (const code of errorCodes(operation)) assert.ok(section.includes(`<td><code>${code}</code></td>`), code)
      assert.ok(section.includes('&quot;success&quot;: 1'))
    })

  it('tells what an answer may hold beside what its example shows', () => {
    const verify = sections.get('token.verify') ?? ''
    for (const field of ['reason', 'unresolved', 'user_group']) assert.ok(verify.includes(`>${field}<`), field)
    assert.ok(verify.includes('unknown, rotated, disabled'))
    const events = sections.get('event.list') ?? ''
    assert.ok(events.includes('>events[].renamed_to<') && events.includes('data_source.deleted'))
  })

  it('escapes what it shows', () => {
    assert.ok(page.includes('1.2.3 &lt;beta&gt;') && !page.includes('<beta>'))
  })
})
