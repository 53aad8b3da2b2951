// An API key verified by better-auth on SQLite, behind a plain HTTP server.

import { createServer } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'

const database = new DatabaseSync(join(process.env.FOLDER ?? '.', 'better-auth.db'))
database.exec('pragma journal_mode = wal')
const auth = betterAuth({
  database,
  secret: 'bench-secret-bench-secret-bench-secret',
  baseURL: 'http://127.0.0.1',
  emailAndPassword: { enabled: true },
  plugins: [apiKey({ rateLimit: { enabled: false } })],
})
await (await getMigrations(auth.options)).runMigrations()
const { user } = await auth.api.signUpEmail({
  body: { email: 'a@example.com', password: 'long-enough-password', name: 'A' },
})
const { key } = await auth.api.createApiKey({ body: { userId: user.id } })

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', async () => {
    const verified = await auth.api.verifyApiKey({ body: JSON.parse(Buffer.concat(chunks).toString()) })
    const answer = JSON.stringify(verified)
    response.writeHead(verified.valid ? 200 : 500, { 'Content-Type': 'application/json' }).end(answer)
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  const body = JSON.stringify({ key })
  const request =
    `POST /verify HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  process.stdout.write(`listening on http://127.0.0.1:${port}\nrequest ${JSON.stringify(request)}\n`)
})
