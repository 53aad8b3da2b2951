import type { presentEvent } from '../events/event.ts'

export type Shown = ReturnType<typeof presentEvent>

export const headings = ['ID', 'AT', 'KIND', 'SUBJECT', 'BY', 'DETAIL']

export function cells(event: Shown): string[] {
  const subject = event.user_group ?? event.schema ?? event.data_source ?? event.api_token_id ?? '-'
  const renamed = event.renamed_to === undefined ? '' : ` → ${event.renamed_to}`
  return [String(event.id), event.at, event.kind, `${subject}${renamed}`, actorIn(event), detailIn(event)]
}

/** An API token may have any name, that of the terminal or of another API token too. */
function actorIn({ api_token: name, by_api_token_id: id }: Shown): string {
  if (name === null) return 'the terminal'
  return id === undefined ? `token ${name}` : `token ${name} (${id})`
}

function detailIn({ name, provided_id, scopes = [], fields = [], ...more }: Shown): string {
  const { disabled, strict_mapping: strict, grace_seconds: grace } = more
  const said = [
    provided_id ?? name,
    ...scopes,
    ...fields.filter((field) => field !== 'disabled' && field !== 'strict_mapping'),
    disabled !== undefined && (disabled ? 'disabled' : 'enabled'),
    strict !== undefined && `strict_mapping ${strict ? 'on' : 'off'}`,
    grace !== undefined && `old token valid ${grace} s longer`,
  ]
  return said.filter(Boolean).join(', ')
}
