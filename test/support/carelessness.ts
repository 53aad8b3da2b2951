import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Canaries } from './canaries.ts'
import type { CarelessCaller } from './careless-caller.ts'
import { runCommand } from './command.ts'
import { rawSql } from './raw-database.ts'
import type { Environment } from './service-process.ts'

export const canary = (name: string) => `${name}-canary-${randomBytes(12).toString('hex')}`

/** Does all there is to do with secrets, rightly and wrongly, and keeps book of them. */
export class Carelessness {
  /** Never anywhere but in the answers that are there to hand them out. */
  readonly secrets: Canaries
  /** The customer's business: in the database, but not in what the operator reads. */
  readonly business: Canaries
  readonly #caller: CarelessCaller
  readonly #environment: Environment
  readonly #apiToken: string
  readonly #connection = canary('connection')
  readonly #property = canary('property')
  readonly #rawBody = canary('body')
  readonly #digits = `9${BigInt(`0x${randomBytes(12).toString('hex')}`)}`
  readonly #group = `acme-${randomBytes(4).toString('hex')}`

  /** The settings are those of the service: its API token and master key are secrets too. */
  constructor(caller: CarelessCaller, environment: Environment) {
    const { UGS_API_TOKEN: apiToken = '', UGS_MASTER_KEY: key = '' } = environment
    this.#caller = caller
    this.#environment = environment
    this.#apiToken = apiToken
    this.secrets = new Map<string, string | Uint8Array>([
      ['configured API token', apiToken],
      ['connection', this.#connection],
      ['master key', key],
      ['bytes of the master key', Buffer.from(key, 'base64')],
    ])
    this.business = new Map([
      ['property', this.#property],
      ['raw body', this.#rawBody],
      ['number', this.#digits],
    ])
  }

  get all(): Canaries {
    return new Map([...this.secrets, ...this.business])
  }

  #remember(token: string): string {
    this.secrets.set(`${token.slice(0, 4)} token ${this.secrets.size}`, token)
    return token
  }

  async useEverything(): Promise<void> {
    const caller = this.#caller
    const [group, twin] = [this.#group, `${this.#group}-twin`]
    const properties = { note: this.#property }
    const made = await caller.call('GET', '/api/user', { user_group_id: group, properties })
    const rotated = await caller.call('POST', '/api/user', {
      current_token: this.#remember(made.json.user_group.token),
      grace_seconds: 60,
    })
    const byPost = await caller.call('POST', '/api/user_groups', { user_group_id: twin, properties })
    const current = this.#remember(rotated.json.user_group.token)
    for (const token of [current, made.json.user_group.token, this.#remember(byPost.json.user_group.token)])
      assert.equal((await caller.call('POST', '/api/verify', { token })).json.active, true)
    await caller.call('PATCH', `/api/user_groups/${twin}`, { name: 'Twin', properties, disabled: true })
    await caller.call('POST', '/api/schemas', { id: 'sales', name: 'Sales' })
    const connection = { password: this.#connection }
    const source = { schema_id: 'sales', provided_id: `${group}-db`, name: 'DB', connection }
    assert.equal((await caller.call('POST', '/api/data_sources', source)).status, 200)
    await caller.call('PATCH', `/api/data_sources/${group}-db`, { connection: { ...connection, again: true } })
    const more = await caller.call('POST', '/api/api_tokens', { name: 'ci', scopes: ['verify'] })
    this.#remember(more.json.api_token.token)
    const command = await runCommand(this.#environment, 'api-token', 'create', 'by command', '--json')
    this.#remember(JSON.parse(command.stdout).token)
    await caller.call('DELETE', `/api/user_groups/${twin}`)
  }

  async misuseEverything(): Promise<void> {
    const token = await this.#currentToken()
    for (const secret of this.secrets.values())
      if (typeof secret === 'string' && secret !== this.#connection) await this.#misuse(secret)
    await this.#misuseBodies(token)
    const caller = this.#caller
    assert.equal((await caller.call('POST', '/api/user', { current_token: token })).status, 200)
    this.#remember(await this.#currentToken())
    assert.equal((await caller.call('POST', '/api/user', { current_token: token })).status, 409)
  }

  /** What a bug or a broken disk would do: the service fails inside, and logs why. */
  async breakTheDatabase(): Promise<void> {
    const token = await this.#currentToken()
    await rawSql(this.#environment, 'alter table former_token rename column rotated_at to elsewhere')
    const unwritten = await this.#caller.call('POST', '/api/user', { current_token: token })
    await rawSql(this.#environment, 'alter table former_token rename column elsewhere to rotated_at')
    await rawSql(
      this.#environment,
      `update user_group set token_sealed = token_hash where provided_id = '${this.#group}'`,
    )
    const unopened = await this.#caller.call('GET', '/api/user', { user_group_id: this.#group })
    assert.deepEqual([unopened.status, unwritten.status], [500, 500])
  }

  async #currentToken(): Promise<string> {
    return (await this.#caller.call('GET', '/api/user', { user_group_id: this.#group })).json.user_group.token
  }

  /** Wherever a secret does not belong. */
  async #misuse(secret: string): Promise<void> {
    const caller = this.#caller
    const rawBody = this.#rawBody
    const inUrl = encodeURIComponent(secret)
    await caller.call('GET', `/api/user?token=${inUrl}`)
    await caller.call('GET', `/${inUrl}`)
    await caller.call('GET', `/api/user_groups/${inUrl}`)
    await caller.call('DELETE', `/api/data_sources/${inUrl}`)
    await caller.call('DELETE', `/api/user?${inUrl}`)
    await caller.call('GET', `/api/user_groups?limit=${inUrl}`)
    await caller.call('GET', `/api/user_groups?${inUrl}=1`)
    await caller.call('GET', `/api/events?after=${inUrl}`)
    await caller.callWithText('GET', '/api/user', `{"user_group_id": "${secret}", ${rawBody}`)
    await caller.callWithText('POST', '/api/user', `${rawBody} ${secret}`, 'text/plain')
    await caller.call('GET', '/api/user', { user_group_id: [secret, rawBody], name: { [secret]: rawBody } })
    await caller.call('POST', '/api/user', { current_token: { [secret]: secret } })
    await caller.call('POST', '/api/user', { current_token: secret.toUpperCase() })
    await caller.call('POST', '/api/verify', { token: [secret] })
    await caller.call('POST', '/api/api_tokens', { name: rawBody, scopes: [secret] })
    await caller.call('PATCH', `/api/user_groups/${this.#group}`, { disabled: secret })
    for (const scheme of ['Bearer', 'Basic', 'Token Token', ''])
      await caller.send('POST', '/api/verify', { headers: { authorization: `${scheme} ${secret}`.trim() } })
    const headers = { 'x-request-id': secret, 'user-agent': secret, cookie: secret, referer: secret }
    await caller.send('GET', '/api/user', { headers })
    await caller.send('GET', '/healthz', { headers })
    await caller.send('GET', '/api/user', { headers: { ...headers, authorization: `Token ${this.#apiToken}` } })
    await caller.sendRaw(`GET /${inUrl} HTTP/1.1\r\n${secret}\r\n\r\n`)
    await caller.sendRaw(`${secret}\r\n\r\n`)
  }

  async #misuseBodies(token: string): Promise<void> {
    const caller = this.#caller
    await caller.send('GET', '/api/user', { headers: { authorization: `Token ${token}` } })
    await caller.callWithText('GET', '/api/user', `{"user_group_id":"n","properties":{"n":${this.#digits}}}`)
    const source = `"schema_id":"sales","name":"DB","connection"`
    await caller.callWithText('POST', '/api/data_sources', `{${source}:{"password":"${this.#connection}"`)
    await caller.callWithText('POST', '/api/data_sources', `{${source}:"${this.#connection}"}`)
    await caller.callWithText('POST', '/api/data_sources', `{${source}:{"pin":${this.#digits}}}`)
    await caller.callWithText('GET', '/api/user', `{"user_group_id":"l","name":"${this.#rawBody.repeat(9_000)}"}`)
    const half = `GET /api/user HTTP/1.1\r\nhost: x\r\nauthorization: Token ${this.#apiToken}\r\n`
    const type = 'content-type: application/json\r\ncontent-length: 1000\r\n\r\n'
    await caller.sendRaw(`${half}${type}{"user_group_id":"${this.#rawBody}`, 'at once')
  }
}
