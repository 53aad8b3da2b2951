import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Answer } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { assertError, assertErrorShape, assertFound } from './expectations.ts'
import { RawConnection, requestText } from './raw-connection.ts'

const bodyLimit = 256 * 1024
const chunked = { 'Content-Length': '', 'Transfer-Encoding': 'chunked' }

for (const engine of engines.slice(0, 1))
  describe('a broken request', { concurrency: true }, async () => {
    const { caller, service } = await running(undefined, engine)

    const answerTo = async (...parts: (string | Uint8Array)[]): Promise<Answer> => {
      const connection = new RawConnection(service.url).send(...parts)
      try {
        return await connection.answer()
      } finally {
        connection.close()
      }
    }

    it('is told within 12 seconds that its headers never ended', async () => {
      const started = performance.now()
      const answer = await answerTo('GET /api/user HTTP/1.1\r\nHost: test\r\nX-Slow: ')
      assertError(answer, 408, 'request_timeout')
      assert.ok(performance.now() - started < 12_500, 'it took longer')
      assert.ok(performance.now() - started > 8_000, 'it was given less time than promised')
    })

    for (const [what, text] of Object.entries({
      'a line of garbage': 'garbage\r\n\r\n',
      'a method nobody knows': requestText('FOO', '/api/user', '{}'),
      'a version nobody knows': 'GET /api/user HTTP/9.9\r\nHost: test\r\n\r\n',
      'HTTP/2 without asking': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'the opening of TLS': '\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n',
      'a header without a colon': 'GET /api/user HTTP/1.1\r\nHost: test\r\nnonsense\r\n\r\n',
      'a header with a NUL': 'GET /api/user HTTP/1.1\r\nHost: test\r\nX-A: a\u0000b\r\n\r\n',
      'no Host header': 'GET /api/user HTTP/1.1\r\n\r\n',
      'two Host headers': requestText('GET', '/api/user', '{"user_group_id":"a"}').replace('Host', 'Host: a\r\nHost'),
      'a negative Content-Length': requestText('GET', '/api/user', '', { 'Content-Length': '-1' }),
      'a length and chunks at once': requestText('GET', '/api/user', '0\r\n\r\n', { 'Transfer-Encoding': 'chunked' }),
      'a chunk that is none': `${requestText('GET', '/api/user', '', chunked)}zz\r\n\r\n`,
    }))
      it(`of ${what} is 400 in the one shape`, async () => {
        assertError(await answerTo(text), 400, 'invalid_request')
      })

    it('that begins with no known method is told so', async () => {
      for (const text of [
        requestText('COPYX', '/api/user', '{}'),
        requestText('get', '/api/user'),
        '\u0016\u0003\u0001\r\n\r\n',
      ]) {
        const { body } = await answerTo(text)
        assert.equal(body.error.message, 'The request does not begin with a known HTTP method, such as GET.')
      }
    })

    it('that expects what the service cannot do is told in the one shape', async () => {
      const answer = await answerTo(requestText('GET', '/api/user', '{}', { Expect: 'miracles' }))
      assert.equal(answer.status, 417)
      assertErrorShape(answer)
    })

    it('with more than 16 KiB of headers is refused in the one shape, one with less is not', async () => {
      for (const text of [
        requestText('GET', '/api/user', '{}', { 'X-Large': 'x'.repeat(17 * 1024) }),
        requestText('GET', `/${'x'.repeat(17 * 1024)}`),
        requestText('GET', '/api/user', '{}', { Authorization: `Token ${'x'.repeat(17 * 1024)}` }),
      ]) {
        const answer = await answerTo(text)
        assert.ok(answer.status === 431 || answer.status === 400)
        assertErrorShape(answer)
      }
      const body = JSON.stringify({ user_group_id: randomUUID() })
      assertFound(await answerTo(requestText('GET', '/api/user', body, { 'X-Large': 'x'.repeat(15 * 1024) })), true)
    })

    it('with more than 1,000 headers is told that too, one with as many is not', async () => {
      const ofCount = (count: number) => `GET /healthz HTTP/1.1\r\nHost: test\r\n${'x:\r\n'.repeat(count - 1)}\r\n`
      assert.equal((await answerTo(ofCount(1_000))).status, 200)
      const answer = await answerTo(ofCount(1_001))
      assertError(answer, 431, 'headers_too_large')
      assert.match(answer.body.error.message, /more than 1,000/)
    })

    it('with bad percent-encoding in its path is refused in the one shape', async () => {
      for (const path of ['/api/user%', '/api/user%zz', '/%E0%A4%A', '/%ff', '/api/user_groups/%', '/%c0%af']) {
        const answer = await answerTo(requestText('GET', path, '{}'))
        assert.ok(answer.status === 400 || answer.status === 404, `${path} gave ${answer.status}`)
        assertErrorShape(answer)
      }
    })

    it('whose body is not JSON is told so', async () => {
      const bodies = [
        '{',
        '}',
        '{"user_group_id":"a"}}',
        '{"user_group_id":"a",}',
        "{'user_group_id':'a'}",
        'acme',
        ' ',
      ]
      bodies.push(
        '{user_group_id:"a"}',
        '{"user_group_id":"a\nb"}',
        '{"a":01}',
        '{"a":NaN}',
        '{"a":"\\x"}',
        '[1',
        'undefined',
      )
      bodies.push('['.repeat(100_000), '{"a":'.repeat(40_000))
      for (const text of bodies)
        for (const method of ['GET', 'POST'])
          assertError(await caller.call(method, '/api/user', { text }), 400, 'invalid_json')
    })

    it('whose body is JSON but no object is told so', async () => {
      for (const text of ['null', '[]', '[{"user_group_id":"a"}]', '"acme"', '42', 'true'])
        for (const [method, path] of [
          ['GET', '/api/user'],
          ['POST', '/api/user'],
          ['POST', '/api/user_groups'],
        ] as const) {
          const answer = await caller.call(method, path, { text })
          assertError(answer, 400, 'invalid_request')
          assert.match(answer.body.error.message, /object/)
        }
    })

    it('whose body is not UTF-8 is told so, and never guessed at', async () => {
      for (const hex of ['ff', 'c3', 'c3 28', 'c0 af', 'e2 82', 'ed a0 80', 'f4 90 80 80', '80', 'e9']) {
        const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
        const text = Buffer.concat([Buffer.from('{"user_group_id":"'), bytes, Buffer.from('"}')])
        assertError(await caller.call('GET', '/api/user', { text }), 400, 'invalid_json')
      }
      const utf16 = Buffer.from('{"user_group_id":"a"}', 'utf16le')
      assertError(await caller.call('GET', '/api/user', { text: utf16 }), 400, 'invalid_json')
    })

    it('with another media type, or none, is 415; the one media type may be written in any way', async () => {
      const body = JSON.stringify({ user_group_id: randomUUID() })
      const strangers = [
        '',
        'text/plain',
        'text/json',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ]
      strangers.push('application/jsonx', 'application', 'json', 'x'.repeat(5000), 'application/xml')
      strangers.push(
        'application/json; charset=iso-8859-1',
        'application/json; charset=utf-16',
        'application/json;charset="latin1"',
        'application/json; charset=utf-8; charset=latin1',
        'application/json; charset="utf-8 latin1"',
        'application/json; charset=',
      )
      for (const type of strangers)
        for (const method of ['GET', 'POST'])
          assertError(
            await answerTo(requestText(method, '/api/user', body, { 'Content-Type': type })),
            415,
            'unsupported_media_type',
          )
      const welcome = [
        'application/json',
        'Application/JSON',
        'application/json; charset=utf-8',
        'application/json;charset="UTF-8"',
        'application/json ; version=1; Charset = utf8 ;',
      ]
      for (const [index, type] of welcome.entries())
        assertFound(await answerTo(requestText('GET', '/api/user', body, { 'Content-Type': type })), index === 0)
    })

    it('that is compressed is 415', async () => {
      const text = gzipSync(JSON.stringify({ user_group_id: 'acme' }))
      for (const encoding of ['gzip', 'br', 'deflate', 'x-gzip', 'gzip, gzip'])
        assertError(
          await caller.call('POST', '/api/user_groups', { text, headers: { 'content-encoding': encoding } }),
          415,
          'unsupported_media_type',
        )
      const body = `18\r\n{"user_group_id":"acme"}\r\n0\r\n\r\n`
      for (const [coding, status] of [
        ['gzip, chunked', 415],
        ['foo, chunked', 415],
        ['Chunked', 200],
      ] as const) {
        const transferred = { ...chunked, 'Transfer-Encoding': coding }
        const answer = await answerTo(requestText('POST', '/api/user_groups', body, transferred))
        assert.equal(answer.status, status, coding)
      }
    })

    it('of more than 256 KiB is 413, announced or chunked, and one of just as much is not', async () => {
      const ofLength = (length: number) => {
        const start = `{"user_group_id":"${randomUUID()}","filler":"`
        return `${start}${'x'.repeat(length - start.length - 2)}"}`
      }
      const inChunks = (body: string) =>
        answerTo(
          requestText('GET', '/api/user', '', chunked),
          ...(body.match(/.{1,50000}/g) ?? []).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`),
          '0\r\n\r\n',
        )
      const [most, tooMuch] = [bodyLimit, bodyLimit + 1]
      assertFound(await answerTo(requestText('GET', '/api/user', ofLength(most))), true)
      assertFound(await inChunks(ofLength(most)), true)
      assertError(await answerTo(requestText('GET', '/api/user', ofLength(tooMuch))), 413, 'body_too_large')
      assertError(await inChunks(ofLength(tooMuch)), 413, 'body_too_large')
      const announced = requestText('POST', '/api/user', '', { 'Content-Length': String(2 ** 40) })
      assertError(await answerTo(announced), 413, 'body_too_large')
    })

    it('has one answer, also when it was refused before the rest of its body broke off', async () => {
      const strangers = { ...chunked, Authorization: 'Token nobodys' }
      const connection = new RawConnection(service.url).send(requestText('POST', '/api/user', '1\r\n{\r\n', strangers))
      assertError(await connection.answer(), 401, 'invalid_api_token')
      assert.equal(await connection.send('no chunk\r\n').rest(), '')
    })

    it('may be followed by the next on its connection, many times, and nothing is said of it', async () => {
      const text = requestText('POST', '/api/user', 'x'.repeat(100_000), { Authorization: 'Token nobodys' })
      const connection = new RawConnection(service.url)
      for (let round = 0; round < 20; round += 1) {
        assertError(await connection.send(text.slice(0, -1_000)).answer(), 401, 'invalid_api_token')
        connection.send(text.slice(-1_000))
      }
      connection.close()
      assert.doesNotMatch(service.output().stderr, /Warning/)
    })

    it('may come in as many chunks as it has bytes', async () => {
      const body = JSON.stringify({ user_group_id: randomUUID(), filler: 'é€😀'.repeat(500) })
      const bytes = [...Buffer.from(body)].flatMap((byte) => [
        Buffer.from('1\r\n'),
        Buffer.of(byte),
        Buffer.from('\r\n'),
      ])
      const text = requestText('GET', '/api/user', '', chunked)
      assertFound(await answerTo(text, Buffer.concat(bytes), '0\r\n\r\n'), true)
    })

    it('cannot reach the prototype of an object', async () => {
      const id = randomUUID()
      const evil = '{"name":"evil","user_group_id":"evil","mapping":{"a":1}}'
      const smuggled = await caller.call('GET', '/api/user', { text: `{"user_group_id":"${id}","__proto__":${evil}}` })
      assertFound(smuggled, true)
      assert.equal(smuggled.body.user_group.name, id)
      for (const key of ['__proto__', '\\u005f_proto__', 'constructor', 'prototype']) {
        const text = `{"${key}":{"user_group_id":"evil","prototype":${evil}}}`
        assertError(await caller.call('GET', '/api/user', { text }), 400, 'invalid_request', 'user_group_id')
      }
      assertError(await caller.call('GET', '/api/user', { text: '{}' }), 400, 'invalid_request', 'user_group_id')
    })

    it('with a key twice is either refused or taken by its last value', async () => {
      const [first, last] = [randomUUID(), randomUUID()]
      const text = `{"user_group_id":"${first}","name":"a","user_group_id":"${last}","name":"b"}`
      const answer = await caller.call('GET', '/api/user', { text })
      if (answer.status === 400) return assertErrorShape(answer)
      assertFound(answer, true)
      assert.equal(answer.body.user_group.provided_id, last)
      assert.equal(answer.body.user_group.name, 'b')
    })
  })
