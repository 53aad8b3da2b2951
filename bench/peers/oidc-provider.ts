// Token introspection by oidc-provider, with its store in memory: the cheapest peer that does the same as verify.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

const client = { client_id: 'bench', client_secret: 'bench-secret' }

const provider = new Provider('http://127.0.0.1', {
  clients: [{ ...client, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
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
const granted = await fetch(`${url}/token`, {
  method: 'POST',
  headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
  body: 'grant_type=client_credentials',
})
const { access_token: token } = (await granted.json()) as { access_token: string }
const body = `token=${token}`
const request =
  `POST /token/introspection HTTP/1.1\r\nHost: bench\r\nAuthorization: Basic ${basic}\r\n` +
  `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
process.stdout.write(`listening on ${url}\nrequest ${JSON.stringify(request)}\n`)
