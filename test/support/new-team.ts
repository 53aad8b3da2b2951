import { newId } from '../../src/ids.ts'
import type { Service } from '../../src/service.ts'

/** A further team and the API token of its admin, made beside the running service. */
export async function newTeam({ store, tokens, clock }: Service): Promise<{ teamId: number; apiToken: string }> {
  const now = clock.now()
  const { id: teamId } = await store.teams.create('A team', now)
  const apiToken = tokens.mintForApi()
  const stored = { id: newId(now), name: 'admin', scopes: ['admin'] as const, expiresAt: null }
  await store.forTeam(teamId, null).apiTokens.add({ ...stored, hash: tokens.hash(apiToken) }, now)
  return { teamId, apiToken }
}
