import type { Service } from '../src/service.ts'
import { newTeam } from '../test/support/new-team.ts'
import type { CalledService } from '../test/support/premises.ts'
import type { RawAnswer } from '../test/support/raw-request.ts'
import { Team } from '../test/team/team.ts'
import { Pipeline } from './pipeline.ts'
import { requestWith, type Slot } from './probes.ts'

/** How a team says what the examples say. */
type Words = readonly (readonly [example: RegExp, own: string])[]

/** A team with things of its own, which asks for what is not its own. */
export class Stranger {
  readonly teamId: number
  readonly #apiToken: string
  readonly #words: Words
  readonly #pipeline: Pipeline

  private constructor(teamId: number, apiToken: string, words: Words, pipeline: Pipeline) {
    this.teamId = teamId
    this.#apiToken = apiToken
    this.#words = words
    this.#pipeline = pipeline
  }

  static async settle({ caller, url }: CalledService, beside: Service): Promise<Stranger> {
    const { teamId, apiToken } = await newTeam(beside)
    const team = new Team(caller, apiToken)
    await team.makeSchema({ id: 'own', name: 'Own' })
    const source = await team.makeDataSource({ schema_id: 'own', provided_id: 'mine-db', name: 'Mine DB' })
    const { token } = await team.newGroup('mine', { mapping: { own: 'mine-db' } })
    const second = await team.makeApiToken({ name: 'second', scopes: ['verify'] })
    const words: Words = [
      [/\bacme\b/g, 'mine'],
      [/\bAcme\b/g, 'Mine'],
      [/\bsales\b/g, 'own'],
      [/\bSales\b/g, 'Own'],
      [/ugt_\w{38}/g, token],
      [/ds_\w{20}/g, source.body.data_source.id],
      [/\b\d{15}\b/g, String(second.body.api_token.id)],
    ]
    return new Stranger(teamId, apiToken, words, new Pipeline(url))
  }

  async probe(slot: Slot, value: string): Promise<RawAnswer> {
    const inOwnWords = (text: string) => this.#words.reduce((own, [pattern, by]) => own.replaceAll(pattern, by), text)
    const [answer] = await this.#pipeline.exchange([requestWith(slot, value, this.#apiToken, inOwnWords)])
    return answer as RawAnswer
  }

  close(): void {
    this.#pipeline.close()
  }
}
