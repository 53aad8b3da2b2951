import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { bodiless, wellFormed } from '../../test/support/one-route.ts'
import { PlainReader, PlainRequest } from './plain-request.ts'

const socket = new Socket()

function read(text: string, reader = new PlainReader()) {
  const request = reader.read(Buffer.from(text, 'latin1'), socket)
  if (!(request instanceof PlainRequest)) return request
  const { method, url, headers, body } = request
  const given = Object.entries(headers).filter(([, value]) => value !== undefined)
  return { method, url, headers: Object.fromEntries(given), body: body.toString() }
}

describe('a request that has come whole', () => {
  it('is read with those of its headers that matter, whatever their case and the spaces around them', () => {
    const text =
      'PATCH /api/user_groups/a%2Fb?x=1 HTTP/1.1\r\nhOST:test\r\nX-Other: any: "thing"\r\nAuthorization: \t Token  a  \r\n' +
      'content-type: application/json\r\nCONTENT-LENGTH: 2\r\nConnection: Keep-Alive\r\nX-Request-Id: mine\r\n\r\n{}'
    assert.deepEqual(read(text), {
      method: 'PATCH',
      url: '/api/user_groups/a%2Fb?x=1',
      headers: {
        ...{ host: 'test', authorization: 'Token  a', connection: 'Keep-Alive', 'x-request-id': 'mine' },
        ...{ 'content-type': 'application/json', 'content-length': '2' },
      },
      body: '{}',
    })
  })

  it('is read without a body', () => {
    assert.deepEqual(read(bodiless), { method: 'POST', url: '/any', headers: { host: 'test' }, body: '' })
  })

  it('is read by its own head, when the one before had another', () => {
    const reader = new PlainReader()
    for (const id of ['a', 'a', 'b', 'bb', 'a']) {
      const text = `GET /${id} HTTP/1.1\r\nHost: ${id}\r\nContent-Length: ${id.length}\r\n\r\n${id}`
      const headers = { host: id, 'content-length': String(id.length) }
      assert.deepEqual(read(text, reader), { method: 'GET', url: `/${id}`, headers, body: id })
    }
  })
})

describe('a request without all of its body', () => {
  for (const cut of [1, 2])
    it(`is incomplete, ${cut} short`, () => assert.equal(read(wellFormed.slice(0, -cut)), 'incomplete'))
})

describe('left to Node is', () => {
  const without = (name: string) => wellFormed.replace(new RegExp(`${name}: .*\r\n`), '')
  const withMore = (...lines: string[]) =>
    wellFormed.replace('\r\n', `\r\n${lines.map((line) => `${line}\r\n`).join('')}`)
  const ofBody = (length: number) =>
    wellFormed.replace(/Length: 2.*/s, `Length: ${length}\r\n\r\n${'x'.repeat(length)}`)
  for (const [what, text] of Object.entries({
    nothing: '',
    'a head that has not come whole': wellFormed.slice(0, wellFormed.indexOf('\r\n\r\n') + 2),
    'more than one request': wellFormed + wellFormed,
    'a request and a byte': `${wellFormed} `,
    'another method': wellFormed.replace('POST', 'HEAD'),
    'another version': wellFormed.replace('1.1', '1.0'),
    'a line before the request': `\r\n${wellFormed}`,
    'a whole URL as target': wellFormed.replace('/any', 'http://test/any'),
    'a fragment in the target': wellFormed.replace('/any', '/any#x'),
    'a target beyond ASCII': wellFormed.replace('/any', '/\xe9'),
    'no Host': without('Host'),
    'two Hosts': withMore('Host: other'),
    'two tokens': withMore('Authorization: Token a', 'authorization: Token b'),
    'two lengths': withMore('Content-Length: 2'),
    'a length that is not plain': wellFormed.replace('Length: 2', 'Length: +2'),
    'two lengths in one': wellFormed.replace('Length: 2', 'Length: 2, 2'),
    'an empty length': wellFormed.replace('Length: 2', 'Length: '),
    'a body in chunks': withMore('Transfer-Encoding: chunked'),
    'an expectation': withMore('Expect: 100-continue'),
    'an upgrade': withMore('Upgrade: h2c'),
    'something else of the connection': withMore('Connection: keep-alive, te'),
    'something of a connection to a proxy': withMore('Proxy-Connection: close'),
    'a space before a colon': withMore('X-Other : x'),
    'a header without a name': withMore(': x'),
    'a line without a colon': withMore('X-Other'),
    'a line that goes on in the next': withMore('X-Other: a', ' b'),
    'a line feed alone': withMore('X-Other: a\nX-More: b'),
    'a carriage return alone': withMore('X-Other: a\rb'),
    'a NUL': withMore('X-Other: a\0b'),
    'a header beyond ASCII': withMore('X-Other: \xe9'),
    'a thousand headers': withMore(...Array.from({ length: 1_000 }, () => 'x:')),
    'a long head': withMore(`X-Other: ${'x'.repeat(4_000)}`),
    'a long body': ofBody(4_001),
  }))
    it(what, () => assert.equal(read(text), undefined))

  it('nothing else, up to those limits', () => {
    assert.equal(typeof read(ofBody(4_000)), 'object')
    assert.equal(typeof read(withMore(`X-Other: ${'x'.repeat(3_800)}`)), 'object')
  })
})

it('nobody makes it look at the same characters again and again', () => {
  const began = performance.now()
  for (const [before, repeated, after] of [
    ['X-Other:', ' ', '\0'],
    ['X-Other: a', ' ', '\0'],
    ['X-Other:', '\t ', '\0'],
    ['', 'x', '\0'],
    ['', 'x:', '\0'],
  ] as const) {
    const line = before + repeated.repeat(3_900 / repeated.length) + after
    for (let time = 0; time < 200; time += 1)
      assert.equal(read(wellFormed.replace('Host', `${line}\r\nHost`)), undefined)
  }
  // Two milliseconds for each are a hundred times what it takes; looking again would be ten times that.
  assert.ok(performance.now() - began < 2_000, `it took ${performance.now() - began} ms`)
})

it('a request does not keep the text of its head and body with what may be remembered of it', () => {
  const keep = Array.from({ length: 2_000 }, (_, index) => {
    const token = `Token ${index}`.padEnd(40, 'x')
    const more = `Authorization: ${token}\r\nX-Other: ${'x'.repeat(3_000)}\r\nHost`
    const request = new PlainReader().read(Buffer.from(wellFormed.replace('Host', more)), socket)
    assert.ok(request instanceof PlainRequest)
    return request.headers.authorization
  })
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const held = process.memoryUsage().heapUsed
  keep.length = 0
  collect()
  const freed = held - process.memoryUsage().heapUsed
  assert.ok(freed < 2_000_000, `${freed} bytes were kept`)
})
