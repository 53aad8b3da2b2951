import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { testApiToken } from '../support/service-process.ts'
import { times } from '../support/times.ts'
import { RawConnection, requestText } from './raw-connection.ts'

describe('the largest page of the list', () => {
  const note = '😀'.repeat(2_000) + 'x'.repeat(55_000)
  const [sqlite] = engines
  let premises: Premises
  let url: string
  before(async () => {
    assert.ok(sqlite)
    premises = await Premises.open(undefined, sqlite)
    const service = await premises.start()
    url = service.url
    for (const batch of times(10, (index) => index))
      await Promise.all(
        times(20, (index) => service.caller.getOrCreate(`group ${batch}-${index}`, { properties: { note } })),
      )
  })
  after(() => premises.close())

  const headers = { authorization: `Token ${testApiToken}` }

  it('arrives whole, character by character', async () => {
    const response = await fetch(`${url}/api/user_groups?limit=200`, { headers })
    const text = await response.text()
    assert.ok(Buffer.byteLength(text) > 12_000_000, 'it is larger than what may be held for those who do not read')
    assert.equal(Number(response.headers.get('content-length')), Buffer.byteLength(text))
    const page = JSON.parse(text)
    assert.equal(page.user_groups.length, 200)
    for (const group of page.user_groups) assert.equal(group.properties.note, note)
  })

  it('arrives at a slow reader, who takes a second and a half for it', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(`GET /api/user_groups?limit=200 HTTP/1.1\r\nHost: test\r\nAuthorization: ${headers.authorization}\r\n`)
    socket.write('Connection: close\r\n\r\n')
    const began = performance.now()
    let received = 0
    for await (const chunk of socket) {
      received += chunk.length
      await pause(received / 8_000 - (performance.now() - began))
    }
    assert.ok(received > 12_000_000, `only ${received} bytes came`)
  })

  const garbage = '\0garbage '.repeat(40_000)
  const badChunk = `${requestText('POST', '/api/user', '', { 'Content-Length': '', 'Transfer-Encoding': 'chunked' })}zz`
  for (const [behind, text, answered] of [
    ['garbage', garbage, 400],
    ['a request whose body is garbage', badChunk + garbage, 400],
    ['a CONNECT', `CONNECT elsewhere:80 HTTP/1.1\r\nHost: elsewhere\r\n\r\n${garbage}`, 400],
    ['a request that expects a miracle', requestText('GET', '/api/user', garbage, { Expect: 'miracles' }), 417],
    ['a request too large to be read', requestText('POST', '/api/user', garbage, headers), 413],
  ] as const)
    it(`arrives whole with ${behind} sent right behind it, which has an answer of its own`, async () => {
      const connection = new RawConnection(url).send(requestText('GET', '/api/user_groups?limit=200'), text)
      await pause(200)
      const page = await connection.answer()
      assert.equal(page.body.user_groups.length, 200)
      const last = await connection.answer()
      assert.equal(last.status, answered)
      assert.equal(last.headers.connection, 'close')
      assert.equal(await connection.rest(), '')
    })

  for (const [how, more] of [
    ['before garbage', {}],
    ['before garbage as the last answer', { Connection: 'close' }],
  ] as const)
    it(`arrives whole ${how}, a hundred times in pieces of five`, async () => {
      const asked = requestText('GET', '/api/user_groups?limit=5', '', more)
      for (let round = 0; round < 100; round += 1) {
        const connection = new RawConnection(url).send(asked, garbage)
        const page = await connection.answer()
        assert.equal(page.body.user_groups.length, 5)
        connection.close()
      }
    })
})
