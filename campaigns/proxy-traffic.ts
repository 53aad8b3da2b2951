import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { UserGroupService } from '../client/src/user-group-service.ts'
import { RawConnection, requestText } from '../test/contract/raw-connection.ts'
import { type Answer, Caller } from '../test/support/caller.ts'
import { times } from '../test/support/times.ts'
import type { RunningProxy } from './proxy-process.ts'

export interface Team {
  id: number
  apiToken: string
}

interface Group {
  team_id: number
  provided_id: string
  token: string
}

/** The back end of a team behind a proxy: asks for one group in every way there is, and knows what it must be told. */
export class BackEnd {
  readonly #proxy: RunningProxy
  readonly #team: Team
  readonly #id: string
  readonly #caller: Caller
  readonly #stranger: Caller
  readonly #client: UserGroupService
  #token: string | undefined
  #former: string | undefined

  constructor(proxy: RunningProxy, team: Team, id: string) {
    this.#proxy = proxy
    this.#team = team
    this.#id = id
    this.#caller = new Caller(proxy.url, team.apiToken, 1)
    this.#stranger = new Caller(proxy.url, 'uga_nobody_has_this_one_0123456789', 1)
    this.#client = new UserGroupService({ baseUrl: proxy.url, apiToken: team.apiToken })
  }

  async ask(random: () => number): Promise<void> {
    const ways = [
      () => this.#lookUp('GET', '/api/user', this.#wish),
      () => this.#lookUp('GET', '/api/user', inChunks(this.#wish)),
      () => this.#lookUp('POST', '/api/user_groups', this.#wish),
      () => this.#lookUp('POST', '/api/user_groups', inChunks(this.#wish)),
      () => this.#useClient(),
      () => this.#verify(),
      () => this.#rotate(),
      () => this.#makeMistakes(random),
    ]
    await ways[Math.floor(random() * ways.length)]?.()
  }

  async close(): Promise<void> {
    await Promise.all([this.#caller.close(), this.#stranger.close()])
  }

  get #wish(): string {
    return JSON.stringify({ user_group_id: this.#id, name: 'Café 😀' })
  }

  async #lookUp(method: 'GET' | 'POST', path: string, text: string | Readable): Promise<void> {
    const answer = await this.#caller.call(method, path, { text })
    if (method === 'GET' && this.#proxy.getBody === 'dropped') return this.#failed(answer, 400, 'missing_body')
    this.#succeeded(answer)
    this.#own(answer.body)
  }

  async #useClient(): Promise<void> {
    this.#own(await this.#client.getOrCreate({ user_group_id: this.#id }))
  }

  async #verify(): Promise<void> {
    const token = this.#token ?? 'ugt_nobody'
    const answer = await this.#caller.verify(token)
    this.#succeeded(answer)
    assert.equal(answer.body.active, this.#token !== undefined, `${this.#proxy.name}: the token of "${this.#id}"`)
    if (answer.body.active) this.#own({ user_group: { ...answer.body.user_group, token } })
  }

  async #rotate(): Promise<void> {
    if (this.#token === undefined) return this.#useClient()
    const answer = await this.#caller.rotate(this.#token)
    this.#succeeded(answer)
    const { user_group } = answer.body
    assert.notEqual(user_group.token, this.#token, `${this.#proxy.name}: the token before the rotation came back`)
    this.#former = this.#token
    this.#token = user_group.token
    this.#own(answer.body)
  }

  async #makeMistakes(random: () => number): Promise<void> {
    const mistakes = [
      async () => this.#failed(await this.#caller.call('GET', '/api/user'), 400, 'missing_body'),
      async () => this.#failed(await this.#caller.call('POST', '/api/user', { text: '{' }), 400, 'invalid_json'),
      async () => this.#failed(await this.#stranger.call('POST', '/api/user', { json: {} }), 401, 'invalid_api_token'),
      async () => this.#failed(await this.#caller.call('GET', '/api/nowhere'), 404, 'not_found'),
      async () => this.#failed(await this.#caller.call('DELETE', '/api/user'), 405, 'method_not_allowed'),
      async () => {
        if (this.#former) this.#failed(await this.#caller.rotate(this.#former), 409, 'token_already_rotated')
      },
      async () => {
        const text = 'x'.repeat(256 * 1024 + 1)
        this.#failed(await this.#caller.call('POST', '/api/user_groups', { text }), 413, 'body_too_large')
      },
    ]
    await mistakes[Math.floor(random() * mistakes.length)]?.()
  }

  #own({ user_group: { team_id, provided_id, token } }: { user_group: Group }): void {
    const { name } = this.#proxy
    if (team_id !== this.#team.id || provided_id !== this.#id)
      assert.fail(
        `${name}: team ${this.#team.id} asked for "${this.#id}" and was given "${provided_id}" of team ${team_id}`,
      )
    this.#token ??= token
    assert.equal(token, this.#token, `${name}: "${this.#id}" was given a token that is not its own`)
  }

  #succeeded({ status, body }: Answer): void {
    assert.equal(status, 200, `${this.#proxy.name}: ${JSON.stringify(body)}`)
  }

  #failed({ status, body }: Answer, expected: number, code: string): void {
    if (body.user_group !== undefined) this.#own(body)
    assert.equal(status, expected, `${this.#proxy.name}: ${code} came as ${JSON.stringify(body)}`)
    assert.equal(body.error?.code, code, `${this.#proxy.name}: ${JSON.stringify(body)}`)
  }
}

/** A stream has no length that could be told before: it is sent in chunks. */
function inChunks(text: string): Readable {
  const bytes = Buffer.from(text)
  return Readable.from([bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)])
}

/** Ten requests on one connection, sent without waiting, are answered in their order. */
export async function assertOrder({ name, url }: RunningProxy, apiToken: string): Promise<void> {
  const connection = new RawConnection(url)
  const ids = times(10, (index) => `in order ${index}`)
  const headers = { Authorization: `Token ${apiToken}` }
  const ask = (id: string) => requestText('POST', '/api/user_groups', JSON.stringify({ user_group_id: id }), headers)
  connection.send(ids.map(ask).join(''))
  for (const id of ids) {
    const { body } = await connection.answer()
    assert.equal(body.user_group?.provided_id, id, `${name}: the answers on one connection were mixed up`)
  }
  connection.close()
}

/** No cache is invited to keep an answer, good or bad, and none marks it as kept. */
export async function assertNotStorable({ name, url }: RunningProxy, apiToken: string): Promise<void> {
  const caller = new Caller(url, apiToken, 1)
  const paths = ['/api/user_groups', '/api/team', '/api/user', '/api/nowhere', '/readyz', '/api/docs']
  for (const path of [...paths, ...paths]) {
    const { headers } = await caller.call('GET', path)
    assert.equal(headers['cache-control'], 'no-store', `${name}: ${path} may be stored`)
    assert.equal(headers.etag, undefined, `${name}: ${path} has an ETag`)
    assert.ok(Number(headers.age ?? 0) === 0, `${name}: ${path} came out of a cache`)
  }
  await caller.close()
}
