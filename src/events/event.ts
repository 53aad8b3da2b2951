import type { Scope } from '../api-tokens/api-token.ts'
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
  /** The API token that did it, by its name then; null from the terminal. Of an older event its id is not known. */
  by: { id: number | null; name: string } | null
  /** The id of the thing, as the team knows it. */
  subject: string | null
  renamedTo: string | null
  detail: EventDetail | null
}

/** What more there is to say of it, under the names it is shown by. */
export interface EventDetail {
  /** What a change set. */
  fields?: string[]
  /** Of a user group that was enabled or disabled, or made so. */
  disabled?: boolean
  /** Of a rotation, when the old token stayed valid. */
  grace_seconds?: number
  strict_mapping?: boolean
  /** Of a schema, a data source or an API token: by its id alone nobody knows it once it is gone. */
  name?: string
  provided_id?: string
  scopes?: Scope[]
}

/** One that has happened in a transaction under way, and has no number yet. */
export interface NewEvent extends Omit<AuditEvent, 'id'> {
  teamId: number
}

/** The thing an event is about stands under its own name. */
export function presentEvent({ id, at, kind, by, subject, renamedTo, detail }: AuditEvent) {
  const thing = kind.slice(0, kind.indexOf('.'))
  return {
    id,
    at: isoTime(at),
    kind,
    api_token: by?.name ?? null,
    ...(by !== null && by.id !== null && { by_api_token_id: by.id }),
    ...(subject !== null && thing === 'user_group' && { user_group: subject }),
    ...(subject !== null && thing === 'schema' && { schema: subject }),
    ...(subject !== null && thing === 'data_source' && { data_source: subject }),
    ...(subject !== null && thing === 'api_token' && { api_token_id: Number(subject) }),
    ...(renamedTo !== null && { renamed_to: renamedTo }),
    ...detail,
  }
}
