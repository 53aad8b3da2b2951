import { format } from '../bench/requests.ts'
import type { Service } from '../src/service.ts'
import { mintToken, withChecksum } from '../src/tokens/format.ts'
import { newTeam } from '../test/support/new-team.ts'
import type { CalledService } from '../test/support/premises.ts'
import { times } from '../test/support/times.ts'
import { Owner, type Possession } from './owner.ts'
import type { Pair } from './timing.ts'

/** What a stranger might tell apart by the clock: nearly a secret from nothing like it, not his from nobody's. */
export async function timedPairs(service: CalledService, beside: Service, random: () => number): Promise<Pair[]> {
  const pick = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)] as T
  const owner = await Owner.settle(service, beside)
  const { apiToken } = await newTeam(beside)
  const theirs = await Promise.all(times(100, async (index) => (await owner.team.newGroup(`timed-${index}`)).token))
  const nobodys = times(100, () => mintToken('ugt_'))
  const first = pick(theirs)
  const verify = (token: string, caller = apiToken) => format('POST', '/api/verify', caller, { token })
  const rotate = (token: string) => format('POST', '/api/user', apiToken, { current_token: token })
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Token ${apiToken}\r\n\r\n`
  const possession = (kind: string) => owner.possessions(random).find((each) => each.kind === kind) as Possession
  const [source, group] = [possession('a data source'), possession('a group')]
  return [
    {
      name: 'verifying what begins like a token',
      one: () => verify(withChecksum(first.slice(0, 20) + mintToken('ugt_').slice(20, 36))),
      other: () => verify(mintToken('ugt_')),
    },
    {
      name: 'calling with what begins like an API token',
      one: () => verify('x', owner.apiToken.slice(0, 30) + mintToken('uga_').slice(30)),
      other: () => verify('x', mintToken('uga_')),
    },
    { name: "verifying another team's token", one: () => verify(pick(theirs)), other: () => verify(pick(nobodys)) },
    { name: "rotating another team's token", one: () => rotate(pick(theirs)), other: () => rotate(pick(nobodys)) },
    {
      name: "asking for another team's group",
      one: () => get(`/api/user_groups/${group.theirs}`),
      other: () => get(`/api/user_groups/${group.nobodys}`),
    },
    {
      name: "asking for another team's data source",
      one: () => get(`/api/data_sources/${source.theirs}`),
      other: () => get(`/api/data_sources/${source.nobodys}`),
    },
  ]
}
