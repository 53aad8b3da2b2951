// Token introspection by oidc-provider, with its store in memory: the cheapest peer that does the same as verify.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { groupToken } from '../names.ts'

const tokens = 10_000
const stored = new Map<string, object>()

/** Its own store in memory holds a thousand. */
class InMemory {
  readonly #model: string

  constructor(model: string) {
    this.#model = model
  }

  async upsert(id: string, payload: object): Promise<void> {
    stored.set(`${this.#model}:${id}`, payload)
  }

  async find(id: string): Promise<object | undefined> {
    return stored.get(`${this.#model}:${id}`)
  }
}

const client = { client_id: 'bench', client_secret: 'bench-secret' }

const provider = new Provider('http://127.0.0.1', {
  adapter: InMemory,
  clients: [{ ...client, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
  ttl: { ClientCredentials: 24 * 60 * 60 },
  features: {
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    devInteractions: { enabled: false },
  },
})
const server = provider.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const basic = Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')
const post = async (path: string, body: string) => {
  const headers = { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(url + path, { method: 'POST', headers, body })
  return (await answer.json()) as { active?: boolean }
}
await post('/token', 'grant_type=client_credentials')
// As many as the service is asked for over and over, by names the load can make up.
const [granted] = stored.values()
for (let index = 0; index < tokens; index++) {
  const jti = groupToken(index)
  stored.set(`ClientCredentials:${jti}`, { ...granted, jti })
}
// To say no costs less.
const { active } = await post('/token/introspection', `token=${groupToken(tokens - 1)}`)
if (!active) throw new Error('oidc-provider does not take its tokens for active')

const body = `token=${groupToken(0)}`
const request =
  `POST /token/introspection HTTP/1.1\r\nHost: bench\r\nAuthorization: Basic ${basic}\r\n` +
  `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
process.stdout.write(`listening on ${url}\nrequest ${JSON.stringify(request)}\n`)
