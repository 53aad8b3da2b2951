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
  const note = `😀${'€'.repeat(21_000)}`
  const perPage = 3
  const [sqlite] = engines
  let premises: Premises
  let url: string
  before(async () => {
    assert.ok(sqlite)
    premises = await Premises.open(undefined, sqlite)
    const service = await premises.start()
    url = service.url
    await Promise.all(
      times(perPage + 1, (index) => service.caller.getOrCreate(`group ${index}`, { properties: { note } })),
    )
  })
  after(() => premises.close())

  const asked = requestText('GET', '/api/user_groups?limit=200')
  // More than the buffers of the system hold for somebody who does not read yet.
  const many = 80

  it('arrives whole, character by character', async () => {
    const headers = { authorization: `Token ${testApiToken}` }
    const response = await fetch(`${url}/api/user_groups?limit=200`, { headers })
    const text = await response.text()
    assert.ok(Buffer.byteLength(text) > 185_000)
    assert.equal(Number(response.headers.get('content-length')), Buffer.byteLength(text))
    const page = JSON.parse(text)
    assert.equal(page.user_groups.length, perPage)
    for (const group of page.user_groups) assert.equal(group.properties.note, note)
  })

  it('arrives many times at a slow reader, who takes a second and a half for it', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(asked.repeat(many - 1))
    socket.write(requestText('GET', '/api/user_groups?limit=200', '', { Connection: 'close' }))
    const began = performance.now()
    let received = 0
    for await (const chunk of socket) {
      received += chunk.length
      await pause(Math.max(1, received / 10_000 - (performance.now() - began)))
    }
    assert.ok(received > many * 185_000, `only ${received} bytes came`)
  })

  const garbage = '\0garbage '.repeat(40_000)
  const badChunk = `${requestText('POST', '/api/user', '', { 'Content-Length': '', 'Transfer-Encoding': 'chunked' })}zz`
  for (const [behind, text, answered] of [
    ['garbage', garbage, 400],
    ['a request whose body is garbage', badChunk + garbage, 400],
    ['a CONNECT', `CONNECT elsewhere:80 HTTP/1.1\r\nHost: elsewhere\r\n\r\n${garbage}`, 400],
    ['a request that expects a miracle', requestText('GET', '/api/user', garbage, { Expect: 'miracles' }), 417],
    ['a request too large to be read', requestText('POST', '/api/user', garbage), 413],
  ] as const)
    it(`arrives whole with ${behind} sent right behind it, which has an answer of its own`, async () => {
      const connection = new RawConnection(url).send(asked.repeat(many), text)
      await pause(200)
      for (let at = 0; at < many; at += 1) assert.equal((await connection.answer()).body.user_groups.length, perPage)
      const last = await connection.answer()
      assert.equal(last.status, answered)
      assert.equal(last.headers.connection, 'close')
      assert.equal(await connection.rest(), '')
    })

  for (const [how, more] of [
    ['before garbage', {}],
    ['before garbage as the last answer', { Connection: 'close' }],
  ] as const)
    it(`arrives whole ${how}, a hundred times`, async () => {
      const asked = requestText('GET', '/api/user_groups?limit=200', '', more)
      for (let round = 0; round < 100; round += 1) {
        const connection = new RawConnection(url).send(asked, garbage)
        assert.equal((await connection.answer()).body.user_groups.length, perPage)
        connection.close()
      }
    })
})
