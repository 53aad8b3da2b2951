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
