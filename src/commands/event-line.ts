import type { presentEvent } from '../events/event.ts'

export type Shown = ReturnType<typeof presentEvent>

export const headings = ['ID', 'AT', 'KIND', 'SUBJECT', 'BY', 'DETAIL']

export function cells(event: Shown): string[] {
  const subject = event.user_group ?? event.schema ?? event.data_source ?? event.api_token_id ?? '-'
  const renamed = event.renamed_to === undefined ? '' : ` → ${event.renamed_to}`
  return [String(event.id), event.at, event.kind, `${subject}${renamed}`, actorIn(event), detailIn(event)]
}

/** In quotes, as whoever names a thing could otherwise write what looks like ours. */
const quoted = (name: string) => JSON.stringify(name)

function actorIn({ api_token: name, by_api_token_id: id }: Shown): string {
  if (name === null) return 'the terminal'
  return `token ${quoted(name)}${id === undefined ? '' : ` (${id})`}`
}

function detailIn({ name, provided_id, scopes, fields = [], ...more }: Shown): string {
  const { disabled, strict_mapping: strict, grace_seconds: grace } = more
  const set = fields.filter((field) => field !== 'disabled' && field !== 'strict_mapping')
  const said = [
    name !== undefined && quoted(provided_id ?? name),
    scopes && `for ${scopes.join(', ')}`,
    set.length > 0 && `set ${set.join(', ')}`,
    disabled !== undefined && (disabled ? 'disabled' : 'enabled'),
    strict !== undefined && `strict_mapping ${strict ? 'on' : 'off'}`,
    grace !== undefined && `old token valid ${grace} s longer`,
  ]
  return said.filter(Boolean).join('; ') || '-'
}
