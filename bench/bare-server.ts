// The floor of every ratio: reads the body, parses it, answers the same bytes the service would.
import cluster from 'node:cluster'
import { createServer } from 'node:http'
// A bare server at its best: left alone for minutes, it would get a sixth dearer for good.
import '../src/first-tick.ts'

const answer = JSON.stringify({
  success: 1,
  new_user_group: false,
  user_group: {
    team_id: 1,
    token: 'ugt_8xhXrKrN4VRoMIYJbHPUlgz6Y7wLLMU73YuUSX',
    name: 'bench-group-000001',
    provided_id: 'bench-group-000001',
  },
})

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) })
    response.end(answer)
  })
})

const workers = Number(process.env.WORKERS)

if (cluster.isPrimary && workers > 1) {
  let listening = 0
  cluster.on('listening', (_, { port }) => {
    listening += 1
    if (listening === workers) ready(port)
  })
  for (let worker = 0; worker < workers; worker++) cluster.fork()
} else
  server.listen(0, '127.0.0.1', () => {
    if (cluster.isPrimary) ready((server.address() as { port: number }).port)
  })

function ready(port: number): void {
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`)
}
