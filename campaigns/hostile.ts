import { engines } from '../test/support/engines.ts'
import type { Campaign } from './campaign.ts'
import { Attack } from './hostile-attack.ts'
import { HostileRequests } from './hostile-requests.ts'

const chapter = 2_000
const shareOfPostgres = 0.1

export const hostile: Campaign = {
  promise: 'No input crashes the service or earns a 5xx.',
  unit: 'requests',
  full: 10_000_000,
  brief: 3_000,
  bugs: {
    'a query that cannot be decoded is not expected': {
      shows: /status 500/,
      rewrites: [
        {
          file: 'http/router.ts',
          find: "throw new ServiceError('invalid_request', { message: 'The query is not valid percent-encoding.' })",
          replace: "throw new URIError('URI malformed')",
        },
      ],
    },
    'bytes that are no method end the process': {
      shows: /the service died/,
      rewrites: [
        {
          file: 'http/connections.ts',
          find: "if (error.code === 'ECONNRESET') socket.destroy()",
          replace: "if (error.code === 'HPE_INVALID_METHOD') throw error",
        },
      ],
    },
    'nobody minds an error behind a request for a tunnel': {
      shows: /the service died/,
      rewrites: [{ file: 'http/odd-requests.ts', find: "socket.on('error', () => {})", replace: '' }],
    },
    'a refused request changes something': {
      shows: /changes were granted, and \d+ are recorded/,
      rewrites: [
        {
          file: 'schemas/create.ts',
          find: "const id = body.id ?? mintId('sch_')",
          replace:
            "const id = body.id ?? mintId('sch_'); if (body.id) await team.settings.update({ name: 'x' }, clock.now())",
        },
      ],
    },
  },
  async run(attempt) {
    const requests = new HostileRequests(attempt.random)
    const seen = new Map<number, number>()
    let done = 0
    for (const engine of engines) {
      const share = engine.name === 'SQLite' ? 1 - shareOfPostgres : shareOfPostgres
      await using attack = await Attack.begin(engine, attempt, requests, seen)
      for (let left = Math.round(attempt.size * share); left > 0; left -= chapter) {
        await attack.chapter(Math.min(chapter, left))
        done += Math.min(chapter, left)
        attempt.progress(done, engine.name)
      }
      await attack.end()
    }
    const answers = [...seen].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`)
    return `${done} requests, a tenth of them as broken streams; answers: ${answers.join(', ')}`
  },
}
