import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { seeded } from '../../campaigns/random.ts'
import { readConfig } from '../../src/config.ts'
import { ServiceError } from '../../src/errors.ts'
import { openService, type Service } from '../../src/service.ts'
import { engines } from '../support/engines.ts'
import { keyOf, noon, storeOn, type TestTeam, teamOn } from '../support/store.ts'

const steps = 1_500
const names = ['a', 'b', 'c']

interface Group {
  team: number
  providedId: string
  current: string
  former: Set<string>
}

/** Who has which token, or had it, as it should be. */
class Owners {
  groups: Group[] = []
  readonly tokens = ['a-token-from-another-system', 'a-second-token-from-there']

  named(team: number, providedId: string): Group | undefined {
    return this.groups.find((group) => group.team === team && group.providedId === providedId)
  }

  verdict(team: number, token: string): string {
    const own = this.groups.filter((group) => group.team === team)
    if (own.some(({ former }) => former.has(token))) return 'rotated'
    return own.find(({ current }) => current === token)?.providedId ?? 'unknown'
  }

  add(team: number, providedId: string, current: string): void {
    this.groups.push({ team, providedId, current, former: new Set() })
    this.tokens.push(current)
  }

  rotated(team: number, token: string, fresh: string): void {
    const group =
      this.groups.find((each) => each.team === team && each.current === token) ?? assert.fail('it was theirs')
    group.former.add(token)
    group.current = fresh
    this.tokens.push(fresh)
  }

  import(team: number, providedId: string, token: string): string {
    const there = this.named(team, providedId)
    if (there) return there.current === token ? 'already_there' : 'conflict'
    if (this.groups.some(({ current, former }) => current === token || former.has(token))) return 'conflict'
    this.add(team, providedId, token)
    return 'created'
  }
}

for (const engine of engines)
  describe(`the owner of a token in ${engine.name}`, () => {
    const on = storeOn(engine)
    let older: Service
    before(async () => {
      // Makes tokens that do not lead to their groups, as if the database had just been migrated.
      await on.sql(`update schema_version set applied_at = ${noon} where version = 7`)
      older = await openService(readConfig(on.database.environment))
    })
    after(() => older.store.close())

    it('is one at most, whoever creates, rotates, renames, deletes and imports, and always the same', async () => {
      const seed = Date.now() % 1e9
      const random = seeded(seed)
      const pick = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)] as T
      const ids = [(await on.newTeam()).teamId, (await on.newTeam()).teamId]
      const sides = [on.service, older].map((service) => {
        return { service, teams: new Map(ids.map((id) => [id, teamOn(service, id, null)])) }
      })
      const owners = new Owners()
      const seen = new Map<string, number>()
      for (let step = 0; step < steps; step++) {
        const { service, teams } = pick(sides)
        const id = pick(ids)
        const team = teams.get(id) ?? assert.fail()
        const [name, other] = [pick(names), pick(names)]
        const token = pick(random() < 0.7 ? owners.tokens.slice(-6) : owners.tokens)
        const [expected = '', found] = await pick([verify, rotate, rotate, make, remove, rename, bring, bring])()
        assert.equal(found, expected, `step ${step}, seed ${seed}`)
        seen.set(expected, (seen.get(expected) ?? 0) + 1)

        async function verify() {
          const verified = await team.verify(token)
          const verdict = verified?.validUntil === 0 ? 'rotated' : (verified?.group.providedId ?? 'unknown')
          return [owners.verdict(id, token), verdict] as const
        }
        async function rotate() {
          const verdict = owners.verdict(id, token)
          const refusal = { unknown: 'token_not_found', rotated: 'token_already_rotated' }[verdict]
          const fresh = await team.rotate(token).catch(codeOf)
          if (refusal === undefined) owners.rotated(id, token, fresh)
          return refusal === undefined ? ['rotated', owners.verdict(id, token)] : [refusal, fresh]
        }
        async function make() {
          const there = owners.named(id, name)
          const made = await team.make(name)
          if (!there) owners.add(id, name, made.token)
          return [there?.current ?? made.token, made.token]
        }
        async function remove() {
          const there = owners.named(id, name)
          owners.groups = owners.groups.filter((group) => group !== there)
          return [`${there !== undefined}`, `${await team.userGroups.delete(name, noon)}`]
        }
        async function rename() {
          const there = owners.named(id, name)
          if (!there || owners.named(id, other)) return ['not renamed', 'not renamed']
          there.providedId = other
          return [other, (await team.userGroups.update(name, { providedId: other }, noon))?.providedId]
        }
        async function bring() {
          const outcomes = await team.userGroups.importBatch(
            [name, other].map((providedId) => bringing(service, team, providedId, token)),
            noon,
          )
          const codes = outcomes.map((outcome) => (outcome instanceof ServiceError ? outcome.code : outcome))
          return [[name, other].map((providedId) => owners.import(id, providedId, token)).join(), codes.join()]
        }
      }
      for (const outcome of ['unknown', 'rotated', 'token_not_found', 'token_already_rotated', 'created,conflict'])
        assert.ok((seen.get(outcome) ?? 0) > 2, `it was hardly ever ${outcome}`)
    })
  })

function bringing({ tokens }: Service, team: TestTeam, providedId: string, token: string) {
  return {
    providedId,
    brought: keyOf(tokens, token),
    make() {
      const wish = team.wish(providedId)
      return { ...wish, disabled: false, token: tokens.sealToken(token, team.teamId, wish.id) }
    },
  }
}

function codeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code
  throw error
}
