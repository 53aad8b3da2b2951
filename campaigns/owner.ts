import { newId } from '../src/ids.ts'
import type { Service } from '../src/service.ts'
import { mintId } from '../src/tokens/format.ts'
import { newTeam } from '../test/support/new-team.ts'
import type { CalledService } from '../test/support/premises.ts'
import { Team } from '../test/team/team.ts'

/** In everything the owner has, and in no request of a stranger's: no answer to one may show it. */
export const mark = 'Belongs to the owner'

/** Something that only the owner has, and something of the same form and length that nobody has. */
export interface Possession {
  kind: string
  theirs: string
  nobodys: string
}

/** A team with one of everything, under the names of the examples. */
export class Owner {
  readonly teamId: number
  readonly apiToken: string
  readonly team: Team
  readonly #beside: Service
  readonly #theirs: Record<string, string>

  private constructor(teamId: number, apiToken: string, team: Team, beside: Service, theirs: Record<string, string>) {
    this.teamId = teamId
    this.apiToken = apiToken
    this.team = team
    this.#beside = beside
    this.#theirs = theirs
  }

  static async settle({ caller }: CalledService, beside: Service): Promise<Owner> {
    const { teamId, apiToken } = await newTeam(beside)
    const team = new Team(caller, apiToken)
    await team.send('PATCH', '/api/team', { name: mark })
    await team.makeSchema({ id: 'sales', name: mark })
    const connection = { password: mark }
    const source = await team.makeDataSource({
      schema_id: 'sales',
      provided_id: 'acme-db',
      name: mark,
      kind: mark,
      connection,
    })
    const wish = { name: mark, mapping: { sales: 'acme-db' }, properties: { mark } }
    const { token: inGrace } = await team.newGroup('acme', wish)
    const { token: ended } = await team.newGroup('acme-rotated', wish)
    await team.rotated(ended)
    const { token: disabled } = await team.newGroup('acme-disabled', wish)
    await team.change('acme-disabled', { disabled: true })
    const { body: page } = await team.page({ limit: 1 })
    const second = await team.makeApiToken({ name: mark, scopes: ['admin'] })
    const revoked = await team.makeApiToken({ name: mark, scopes: ['admin'] })
    await team.revoke(revoked.body.api_token.id)
    const { body: tokens } = await team.send('GET', '/api/api_tokens?limit=1')
    return new Owner(teamId, apiToken, team, beside, {
      'a group': 'acme',
      'a token': await team.rotated(inGrace, 604_800),
      'a token in grace': inGrace,
      'a token that ended': ended,
      'a token of a disabled group': disabled,
      'a data source': source.body.data_source.id,
      'a data source by its provided id': 'acme-db',
      'a schema': 'sales',
      'the id of an API token': String(second.body.api_token.id),
      'an API token': second.body.api_token.token,
      'a revoked API token': revoked.body.api_token.token,
      'a cursor': page.next_cursor,
      'a cursor of API tokens': tokens.next_cursor,
    })
  }

  /** What is theirs, each beside a new one that nobody has. */
  possessions(random: () => number): Possession[] {
    const shift = 1 + Math.floor(random() * 25)
    return Object.entries(this.#theirs).map(([kind, theirs]) => ({ kind, theirs, nobodys: this.#alike(theirs, shift) }))
  }

  #alike(theirs: string, shift: number): string {
    const { tokens, clock } = this.#beside
    if (theirs.startsWith('ugt_')) return tokens.mintForUserGroup(1, newId(clock.now()), clock.now()).token
    if (theirs.startsWith('uga_')) return tokens.mintForApi()
    if (theirs.startsWith('ds_')) return mintId('ds_')
    if (/^\d{15}$/.test(theirs)) return String(newId(clock.now()))
    const [, beginning, position] = /^(.*after )(\d+)$/.exec(Buffer.from(theirs, 'base64url').toString()) ?? []
    if (position !== undefined) return Buffer.from(`${beginning}${Number(position) + 1}`).toString('base64url')
    // Letter by letter, so that what begins another name still does.
    return theirs.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(97 + ((letter.charCodeAt(0) - 97 + shift) % 26)))
  }
}
