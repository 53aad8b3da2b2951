import assert from 'node:assert/strict'
import type { Service } from '../src/service.ts'
import { rowsOfTeam } from '../test/support/all-rows.ts'
import { newTeam } from '../test/support/new-team.ts'
import type { CalledService } from '../test/support/premises.ts'
import type { Environment } from '../test/support/service-process.ts'
import { type Furnished, furnish } from '../test/team/furnish.ts'
import { Team } from '../test/team/team.ts'

/** A team whose API token no hostile request carries. */
export class Bystander {
  readonly #team: Team
  readonly #environment: Environment
  readonly #teamId: number
  readonly #token: string
  readonly #rows: string[]

  private constructor(team: Team, environment: Environment, teamId: number, token: string, rows: string[]) {
    this.#team = team
    this.#environment = environment
    this.#teamId = teamId
    this.#token = token
    this.#rows = rows
  }

  static async settle(service: CalledService, beside: Service, environment: Environment): Promise<Bystander> {
    const { teamId, apiToken, token } = await furnishedTeam(service, beside)
    const team = new Team(service.caller, apiToken)
    return new Bystander(team, environment, teamId, token, await rowsOfTeam(environment, teamId))
  }

  async assertUntouched(): Promise<void> {
    assert.deepEqual(await rowsOfTeam(this.#environment, this.#teamId), this.#rows)
    const { body } = await this.#team.getOrCreate('acme')
    assert.deepEqual([body.new_user_group, body.user_group.token], [false, this.#token])
    assert.equal((await this.#team.verify(this.#token)).body.active, true)
  }
}

/** A new team with one of everything that the examples of openapi.json name. */
export async function furnishedTeam(
  { caller }: CalledService,
  beside: Service,
): Promise<Furnished & { teamId: number; apiToken: string }> {
  const { teamId, apiToken } = await newTeam(beside)
  return { teamId, apiToken, ...(await furnish(new Team(caller, apiToken))) }
}
