import type { Team } from './team.ts'

export interface Furnished {
  /** The current token of the group "acme". */
  token: string
  /** One id of each kind, by the collection in a path: `/api/schemas/{id}`. */
  ids: Record<string, string>
}

/** Makes what the examples of openapi.json name. */
export async function furnish(team: Team): Promise<Furnished> {
  await team.makeSchema({ id: 'sales', name: 'Sales' })
  await team.makeDataSource({ schema_id: 'sales', provided_id: 'acme-db', connection: { password: 'secret' } })
  await team.newGroup('old', { mapping: { sales: 'acme-db' } })
  const { body } = await team.makeApiToken({ name: 'ci', scopes: ['verify'] })
  const wish = { name: 'Acme', mapping: { sales: 'acme-db' }, properties: { region: 'eu' } }
  const { token } = await team.newGroup('acme', wish)
  const ids: Record<string, string> = {
    user_groups: 'acme',
    schemas: 'sales',
    data_sources: 'acme-db',
    api_tokens: String(body.api_token.id),
  }
  return { token, ids }
}
