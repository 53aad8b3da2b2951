import { allows, type Caller, isUsable, scopes } from '../api-tokens/api-token.ts'
import type { Config } from '../config.ts'
import { newId } from '../ids.ts'
import type { Service } from '../service.ts'
import type { Team } from '../teams/team.ts'

export interface Prepared {
  team: Team
  freshToken: string | undefined
  warnings: string[]
}

/**
 * Makes sure of the first team and its API token: a configured one before the first request can come; otherwise, at the
 * very first start, a new one, but only when what is returned is called, after the start has succeeded: it is printed
 * once, and must be seen.
 */
export async function firstTeam(service: Service, config: Config): Promise<() => Promise<Prepared>> {
  if (config.apiToken === undefined) return () => prepareFirstTeam(service, config)
  const prepared = await prepareFirstTeam(service, config)
  return async () => prepared
}

async function prepareFirstTeam({ store, tokens, clock }: Service, config: Config): Promise<Prepared> {
  const now = clock.now()
  const secret = config.apiToken ?? tokens.mintForApi()
  const name = config.apiToken === undefined ? 'First API token' : 'UGS_API_TOKEN'
  const token = { id: newId(now), name, scopes, hash: tokens.hash(secret), expiresAt: null }
  const first = await store.teams.prepareFirst(token, config.apiToken === undefined ? 'if_none' : 'always', now)
  const warnings: string[] = []
  if (config.apiToken !== undefined && config.apiToken.length < 32)
    warnings.push('UGS_API_TOKEN is shorter than 32 characters: use a longer random one.')
  if (config.apiToken === 'only-for-trying-out-0123456789abcdef')
    warnings.push('UGS_API_TOKEN is the example of the README, which everybody knows: set another, and revoke it.')
  if (config.apiToken !== undefined) {
    const known = await store.findCaller(token.hash)
    if (known !== undefined) warnings.push(...shortcomings(known, first.team, now))
  }
  const isFresh = config.apiToken === undefined && first.token === 'added'
  return { team: first.team, freshToken: isFresh ? secret : undefined, warnings }
}

/** Of UGS_API_TOKEN, which may have been made by other means before, and not for this. */
export function shortcomings(token: Caller, first: Team, now: number): string[] {
  if (token.revokedAt !== null) return ['UGS_API_TOKEN was revoked and stays so: unset it, or set a new one.']
  const found: string[] = []
  if (!isUsable(token, now)) found.push('UGS_API_TOKEN has expired: unset it, or set a new one.')
  if (token.teamId !== first.id)
    found.push(`UGS_API_TOKEN is an API token of team ${token.teamId}, not of the first: unset it, or set another one.`)
  if (!scopes.every((scope) => allows(token, scope)))
    found.push(`UGS_API_TOKEN may not do everything, only ${token.scopes.join(', ')}: unset it, or set another one.`)
  return found
}
