import { scopes } from '../api-tokens/api-token.ts'
import { type TeamOperation, Written } from '../http/operation.ts'
import { validator } from '../http/validate.ts'
import type { Service } from '../service.ts'
import { teamNamed, withService } from './with-service.ts'

interface Request {
  /** What stands last in the path over HTTP. */
  id?: string
  body?: unknown
  query?: unknown
}

/** Performs an operation as the HTTP interface does, with its checks and its answer; in the audit trail nobody is named. */
export async function perform<Answer extends object>(
  service: Service,
  teamId: number,
  operation: TeamOperation,
  { id = '', body, query }: Request = {},
): Promise<Answer> {
  const { store, tokens, memory, clock } = service
  const team = store.forTeam((await teamNamed(service, teamId)).id, null)
  const answer = await operation.handle({
    body: operation.body && validator(operation.body, 'The input')(body),
    query: operation.query && validator(operation.query, 'The options')(query ?? {}),
    ...{ id, team, teamId, tokens, memory, clock, caller: terminal(teamId) },
  })
  return (answer instanceof Written ? answer.reply : answer) as Answer
}

/** Opens the service for one operation. */
export function performOnce<Answer extends object>(
  teamId: number,
  operation: TeamOperation,
  request: Request = {},
): Promise<Answer> {
  return withService((service) => perform<Answer>(service, teamId, operation, request))
}

/** Who has the settings and the master key may do everything. */
function terminal(teamId: number) {
  const times = { createdAt: 0, expiresAt: null, revokedAt: null, lastUsedAt: null }
  return { id: 0, teamId, name: 'terminal', scopes, ...times }
}
