import type { Service } from '../service.ts'
import type { Request } from './operate.ts'
import { withService } from './with-service.ts'

/**
 * Performs the operation of this id as the HTTP interface does, with its checks and its answer; in the audit trail nobody
 * is named.
 */
export async function perform<Answer extends object>(
  service: Service,
  teamId: number,
  operation: string,
  request: Request = {},
): Promise<Answer> {
  // Loaded only here: the operations and their rules take longer to load than most commands to run.
  const { operate } = await import('./operate.ts')
  return (await operate(service, teamId, operation, request)) as Answer
}

/** Opens the service for one operation. */
export function performOnce<Answer extends object>(
  teamId: number,
  operation: string,
  request: Request = {},
): Promise<Answer> {
  return withService((service) => perform<Answer>(service, teamId, operation, request))
}
