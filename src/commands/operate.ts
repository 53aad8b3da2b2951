import { type TeamOperation, Written } from '../http/operation.ts'
import { validator } from '../http/validate.ts'
import { operations } from '../operations.ts'
import type { Service } from '../service.ts'
import { teamNamed } from './with-service.ts'

export interface Request {
  /** What stands last in the path over HTTP. */
  id?: string
  body?: unknown
  query?: unknown
}

export async function operate(
  service: Service,
  teamId: number,
  operationId: string,
  request: Request,
): Promise<object> {
  const { store, tokens, memory, clock } = service
  const { id = '', body, query } = request
  const operation = operationNamed(operationId)
  const team = store.forTeam((await teamNamed(service, teamId)).id, null)
  const answer = await operation.handle({
    body: operation.body && validator(operation.body, 'The input')(body),
    query: operation.query && validator(operation.query, 'The options')(query ?? {}),
    ...{ id, team, teamId, tokens, memory, clock },
  })
  return answer instanceof Written ? answer.reply : answer
}

function operationNamed(id: string): TeamOperation {
  const found = operations.find((operation) => operation.id === id)
  if (found === undefined || found.scope === null) throw new Error(`there is no operation ${id}`)
  return found
}
