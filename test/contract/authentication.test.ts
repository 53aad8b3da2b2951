import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, Caller } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { startService, testApiToken } from '../support/service-process.ts'
import { SlowUpload } from '../support/slow-upload.ts'
import { commandsBeside } from './commands.ts'
import { assertError, assertFound, assertRotated } from './expectations.ts'
import { RawConnection, requestText } from './raw-connection.ts'

const unknownApiToken = `uga_${'0'.repeat(38)}`

function assertUnauthenticated(answer: Answer, code: string): void {
  assertError(answer, 401, code)
  assert.equal(answer.headers['www-authenticate'], 'Token')
}

for (const engine of engines)
  describe(`authentication on ${engine.name}`, { concurrency: true }, async () => {
    const { caller, service, environment } = await running(undefined, engine)
    const { makeApiToken, revokeApiToken } = commandsBeside(environment)
    const second = await startService(environment)
    after(() => second.stop('SIGKILL'))
    const tokenWith = async (scope: string, expires: string | null = null): Promise<string> => {
      const json = { name: 'test', scopes: [scope], expires_at: expires }
      return (await caller.call('POST', '/api/api_tokens', { json })).body.api_token.token
    }
    const [provision, admin, verify] = [
      await tokenWith('provision'),
      await tokenWith('admin'),
      await tokenWith('verify'),
    ]

    const withHeader = (authorization: string, id: string = randomUUID()) =>
      caller.call('GET', '/api/user', { json: { user_group_id: id }, headers: { authorization } })
    const withToken = (token: string) => withHeader(`Token ${token}`)
    const answerTo = async (text: string): Promise<Answer> => {
      const connection = new RawConnection(service.url).send(text)
      try {
        return await connection.answer()
      } finally {
        connection.close()
      }
    }

    it('matches the scheme word without regard to case, and takes several spaces behind it', async () => {
      for (const scheme of ['Token', 'token', 'TOKEN', 'tOkEn'])
        for (const spaces of [' ', '  ', '          '])
          assertFound(await withHeader(`${scheme}${spaces}${testApiToken}`), true)
    })

    it('asks for the header when it is missing', async () => {
      const request = (path: string, method: string) => requestText(method, path, '{}', { Authorization: '' })
      for (const [method, path] of [
        ['GET', '/api/user'],
        ['POST', '/api/user'],
        ['POST', '/api/user_groups'],
      ] as const)
        assertUnauthenticated(await answerTo(request(path, method)), 'unauthenticated')
    })

    it('refuses a malformed header', async () => {
      const malformed = [
        'Token',
        'Bearer',
        testApiToken,
        `Bearer ${testApiToken}`,
        `Basic ${Buffer.from(`user:${testApiToken}`).toString('base64')}`,
        `Token${testApiToken}`,
        `Token=${testApiToken}`,
        `Token: ${testApiToken}`,
        `Token\t${testApiToken}`,
        `X Token ${testApiToken}`,
      ]
      for (const authorization of malformed) assertUnauthenticated(await withHeader(authorization), 'unauthenticated')
    })

    it('refuses anything but one exact token', async () => {
      const notQuite = [
        `${testApiToken} ${testApiToken}`,
        `${testApiToken}, Token ${testApiToken}`,
        `"${testApiToken}"`,
        `token=${testApiToken}`,
        `${testApiToken}é`,
        'x'.repeat(5000),
      ]
      for (const value of notQuite) {
        const { status, headers } = await withToken(value)
        assert.equal(status, 401, value)
        assert.equal(headers['www-authenticate'], 'Token')
      }
    })

    it('refuses an unknown token', async () => {
      for (const unknown of [
        unknownApiToken,
        provision.slice(0, -1),
        `${provision}0`,
        testApiToken.toUpperCase(),
        'x',
        "'--",
      ])
        assertUnauthenticated(await withToken(unknown), 'invalid_api_token')
    })

    it('makes nothing for a caller it refuses, and rotates nothing', async () => {
      const { body } = await caller.getOrCreate(randomUUID())
      const headers = { authorization: `Token ${unknownApiToken}` }
      const json = { current_token: body.user_group.token }
      assertUnauthenticated(await caller.call('POST', '/api/user', { json, headers }), 'invalid_api_token')
      assertRotated(await caller.call('POST', '/api/user', { json }))
      const id = randomUUID()
      assertUnauthenticated(await withHeader(`Token ${unknownApiToken}`, id), 'invalid_api_token')
      assertFound(await caller.getOrCreate(id), true)
    })

    it('takes a new token with the next request, and refuses a revoked one with the next, on every process', async () => {
      const { id, token } = await makeApiToken('--scope', 'provision')
      const elsewhere = new Caller(second.url, token)
      assertFound(await withToken(token), true)
      assertFound(await elsewhere.getOrCreate(randomUUID()), true)
      await revokeApiToken(id)
      assertUnauthenticated(await elsewhere.getOrCreate(randomUUID()), 'invalid_api_token')
      assertUnauthenticated(await withToken(token), 'invalid_api_token')
      await elsewhere.close()
    })

    it('refuses a token from the moment it expires, on every process', async () => {
      const expires = Date.now() + 2500
      const token = await tokenWith('provision', new Date(expires).toISOString())
      const elsewhere = new Caller(second.url, token)
      assertFound(await withToken(token), true)
      assertFound(await elsewhere.getOrCreate(randomUUID()), true)
      await pause(expires - Date.now() + 5)
      assertUnauthenticated(await withToken(token), 'invalid_api_token')
      assertUnauthenticated(await elsewhere.getOrCreate(randomUUID()), 'invalid_api_token')
      await elsewhere.close()
    })

    it('refuses a request whose token was revoked, or expired, while its body was on the way', async () => {
      const { id: toRevoke, token } = await makeApiToken('--scope', 'provision')
      const expires = Date.now() + 2500
      const expiring = await tokenWith('provision', new Date(expires).toISOString())
      const ids = [randomUUID(), randomUUID(), randomUUID()] as const
      const uploads = [
        await SlowUpload.begin(service.url, ids[0], expiring),
        await SlowUpload.begin(service.url, ids[1], token),
        await SlowUpload.begin(service.url, ids[2]),
      ] as const
      await revokeApiToken(toRevoke)
      await pause(Math.max(0, expires - Date.now()) + 5)
      for (const upload of uploads) upload.finish()
      for (const upload of uploads.slice(0, 2)) {
        const { status, text } = await upload.answer
        assert.equal(status, 401, text)
        assert.equal(JSON.parse(text).error.code, 'invalid_api_token')
      }
      assert.equal((await uploads[2].answer).status, 200)
      for (const [index, id] of ids.entries()) assertFound(await caller.getOrCreate(id), index < 2)
    })

    it('lets provision and admin do both operations, and verify neither', async () => {
      for (const token of [provision, admin]) {
        const headers = { authorization: `Token ${token}` }
        const made = await withToken(token)
        assertFound(made, true)
        const json = { current_token: made.body.user_group.token }
        assertRotated(await caller.call('POST', '/api/user', { json, headers }))
        const twin = { user_group_id: randomUUID() }
        assertFound(await caller.call('POST', '/api/user_groups', { json: twin, headers }), true)
      }
      const headers = { authorization: `Token ${verify}` }
      const id = randomUUID()
      const { body } = await caller.getOrCreate(randomUUID())
      const json = { user_group_id: id, current_token: body.user_group.token }
      for (const [method, path] of [
        ['GET', '/api/user'],
        ['POST', '/api/user'],
        ['POST', '/api/user_groups'],
      ] as const)
        assertError(await caller.call(method, path, { json, headers }), 403, 'insufficient_scope')
      assertFound(await caller.getOrCreate(id), true)
      assertRotated(await caller.rotate(body.user_group.token))
    })

    it('takes neither of two headers, whichever of them is valid', async () => {
      const body = JSON.stringify({ user_group_id: randomUUID() })
      const once = requestText('GET', '/api/user', body)
      const invalid = `Authorization: Token ${unknownApiToken}\r\n`
      for (const twice of [
        once.replace('Authorization', `${invalid}Authorization`),
        once.replace('Content-Type', `${invalid}Content-Type`),
        once.replace(/(Authorization: .*\r\n)/, '$1$1'),
      ]) {
        const answer = await answerTo(twice)
        assertUnauthenticated(answer, 'unauthenticated')
        assert.match(answer.body.error.message, /^The Authorization header was sent more than once;/)
      }
      const inOne = await withToken(`${testApiToken}, Token ${testApiToken}`)
      assert.match(inOne.body.error.message, /^Send the header/)
      assertFound(await answerTo(once), true)
    })

    it('decides before it reads the body', async () => {
      for (const authorization of ['', `Token ${unknownApiToken}`]) {
        const code = authorization === '' ? 'unauthenticated' : 'invalid_api_token'
        const headers = { Authorization: authorization }
        for (const length of ['1000', '100000000'])
          assertUnauthenticated(
            await answerTo(requestText('GET', '/api/user', '', { ...headers, 'Content-Length': length })),
            code,
          )
        // An invitation to send the body would come before the answer, and is no answer.
        const asking = { ...headers, Expect: '100-continue', 'Content-Length': '1000' }
        assertUnauthenticated(await answerTo(requestText('POST', '/api/user', '', asking)), code)
        for (const more of [{ 'Content-Type': 'text/plain' }, { 'Content-Encoding': 'gzip' }, {}])
          assertUnauthenticated(await answerTo(requestText('POST', '/api/user', '{"', { ...headers, ...more })), code)
      }
    })

    it('keeps the two kinds of token apart', async () => {
      const { user_group } = (await caller.getOrCreate(randomUUID())).body
      assertUnauthenticated(await withToken(user_group.token), 'invalid_api_token')
      assertError(await caller.rotate(testApiToken), 404, 'token_not_found')
      assertError(await caller.rotate(provision), 404, 'token_not_found')
    })
  })
