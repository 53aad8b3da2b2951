import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addressOf, banner } from './banner.ts'

function greeting(host: string): string {
  return banner({
    version: '1.0.0',
    host,
    address: addressOf(host, 8080),
    metrics: `${addressOf(host, 9090)}/metrics`,
    database: 'SQLite',
    team: { id: 1, name: 'First team', strictMapping: false, createdAt: 0 },
    freshToken: undefined,
  })
}

describe('the greeting', () => {
  for (const host of ['0.0.0.0', '::'])
    it(`says with HOST=${host} that all addresses are listened on, and shows calls that work when pasted`, () => {
      const text = greeting(host)
      const everywhere = `   (and all other addresses of this machine: HOST is ${host})\n`
      assert.ok(text.includes(`  Listening on  http://127.0.0.1:8080${everywhere}`), text)
      assert.ok(text.includes(`  Metrics on    http://127.0.0.1:9090/metrics${everywhere}`), text)
      assert.match(text, /curl -sX GET http:\/\/127\.0\.0\.1:8080\/api\/user /)
    })

  it('names the address alone where it is the only one', () => {
    assert.match(greeting('10.0.0.7'), /^ {2}Listening on {2}http:\/\/10\.0\.0\.7:8080$/m)
    assert.match(greeting('::1'), /^ {2}Listening on {2}http:\/\/\[::1\]:8080$/m)
  })
})
