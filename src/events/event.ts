import { isoTime } from '../clock.ts'

/** What can be done to a team's things. The part before the dot names the thing. */
export const eventKinds = [
  'user_group.created',
  'user_group.updated',
  'user_group.token_rotated',
  'user_group.deleted',
  'schema.created',
  'schema.deleted',
  'data_source.created',
  'data_source.updated',
  'data_source.deleted',
  'api_token.created',
  'api_token.revoked',
  'team.updated',
] as const
export type EventKind = (typeof eventKinds)[number]

/** A line of the audit trail: who did what to which thing, when. It holds no secret. */
export interface AuditEvent {
  /** Counts up by one within a team. */
  id: number
  at: number
  kind: EventKind
  /** The name of the API token that did it; null from the terminal. */
  apiToken: string | null
  /** The id of the thing, as the team knows it. */
  subject: string | null
  renamedTo: string | null
}

/** One that has happened in a transaction under way, and has no number yet. */
export interface NewEvent extends Omit<AuditEvent, 'id'> {
  teamId: number
}

/** The thing an event is about stands under its own name. */
export function presentEvent({ id, at, kind, apiToken, subject, renamedTo }: AuditEvent) {
  const thing = kind.slice(0, kind.indexOf('.'))
  return {
    id,
    at: isoTime(at),
    kind,
    api_token: apiToken,
    ...(subject !== null && thing === 'user_group' && { user_group: subject }),
    ...(subject !== null && thing === 'schema' && { schema: subject }),
    ...(subject !== null && thing === 'data_source' && { data_source: subject }),
    ...(subject !== null && thing === 'api_token' && { api_token_id: Number(subject) }),
    ...(renamedTo !== null && { renamed_to: renamedTo }),
  }
}
