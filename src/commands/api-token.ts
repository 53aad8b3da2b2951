import { type Command, InvalidArgumentError } from 'commander'
import { type ApiToken, type Scope, scopes, state } from '../api-tokens/api-token.ts'
import { issueApiToken } from '../api-tokens/issue.ts'
import { isoTime, isoTimeOrNull, timeOf } from '../clock.ts'
import { OperatorError } from '../operator-error.ts'
import { example, parseId, parseName, type TeamOptions, withTeam } from './options.ts'
import { table } from './table.ts'
import { print, printJson, say, when } from './terminal.ts'
import { teamNamed, withService } from './with-service.ts'

const usualScopes: readonly Scope[] = ['provision']

export function addApiTokenCommands(program: Command): void {
  const apiToken = program.command('api-token').description('Make, list and revoke the API tokens of a team.')

  apiToken
    .command('create')
    .description('Make an API token and print its secret, this once.')
    .argument('<name>', 'what it is for, such as "billing back end"', parseName)
    .option('--team <id>', 'the team it belongs to', parseId, 1)
    .option('--scope <scope...>', `what it may do: ${scopes.join(', ')} (default: ${usualScopes})`, addScope)
    .option('--expires <time>', 'when it ends: 90d, 12h or 2027-01-31T00:00:00Z (default: never)', parseExpiry)
    .option('--json', 'print it as JSON, with the secret under "token"')
    .addHelpText('after', example('ugs api-token create "dashboard server" --scope verify --expires 90d'))
    .action((name: string, options: TeamOptions & { scope?: Scope[]; expires?: Expiry }) =>
      withService(async (service) => {
        const { store, tokens, clock } = service
        const team = await teamNamed(service, options.team)
        const now = clock.now()
        const wish = { name, scopes: options.scope ?? usualScopes, expiresAt: options.expires?.(now) ?? null }
        const { apiTokens } = store.forTeam(team.id, null)
        const { token, secret } = await issueApiToken(wish, tokens, now, (made) => apiTokens.add(made, now))
        if (options.json) return printJson({ ...forScripts(token, now), token: secret })
        say(`API token ${token.id} of team ${team.id}, scope ${token.scopes.join(', ')}. It is shown only now:`)
        print(secret)
      }),
    )

  withTeam(apiToken.command('list'), 'print them as JSON')
    .description('List the API tokens of a team, never their secrets.')
    .addHelpText('after', example('ugs api-token list --team 1'))
    .action((options: TeamOptions) =>
      withService(async (service) => {
        const { store, clock } = service
        const now = clock.now()
        const all = await store.forTeam((await teamNamed(service, options.team)).id, null).apiTokens.all()
        if (options.json) return printJson(all.map((token) => forScripts(token, now)))
        const rows = all.map((token) => [
          String(token.id),
          token.name,
          token.scopes.join(','),
          state(token, now),
          when(token.expiresAt),
          when(token.lastUsedAt),
        ])
        print(table(['ID', 'NAME', 'SCOPES', 'STATE', 'EXPIRES', 'LAST USED'], rows))
      }),
    )

  apiToken
    .command('revoke')
    .description('End an API token; the next request with it is refused, on every process.')
    .argument('<id>', 'its id, as "ugs api-token list" shows it', parseId)
    .option('--team <id>', 'the team it belongs to', parseId, 1)
    .option('--json', 'print the revoked token as JSON')
    .addHelpText('after', example('ugs api-token revoke 186123456789012'))
    .action((id: number, options: TeamOptions) =>
      withService(async (service) => {
        const { store, clock } = service
        const team = await teamNamed(service, options.team)
        const revoked = await store.forTeam(team.id, null).apiTokens.revoke(id, clock.now(), 'may_go')
        if (revoked === undefined)
          throw new OperatorError(
            `Team ${team.id} has no API token ${id} to revoke.`,
            `List them with: ugs api-token list --team ${team.id}`,
          )
        if (options.json) printJson(forScripts(revoked, clock.now()))
        else print(`Revoked API token ${id} (${revoked.name}).`)
      }),
    )
}

type Expiry = (now: number) => number

function addScope(text: string, chosen: Scope[] = []): Scope[] {
  const scope = scopes.find((candidate) => candidate === text)
  if (scope === undefined) throw new InvalidArgumentError(`A scope is one of ${scopes.join(', ')}.`)
  return [...new Set([...chosen, scope])]
}

function parseExpiry(text: string): Expiry {
  const span = /^([1-9]\d{0,4})([dh])$/.exec(text)
  if (span) return (now) => now + Number(span[1]) * (span[2] === 'd' ? 86_400_000 : 3_600_000)
  const time = timeOf(text) ?? timeOf(`${text}T00:00:00Z`)
  if (time === undefined) throw new InvalidArgumentError('Write 90d, 12h, 2027-01-31 or 2027-01-31T00:00:00Z.')
  return (now) => {
    if (time <= now) throw new OperatorError(`${text} is in the past.`, 'Choose a time to come.')
    return time
  }
}

function forScripts(token: ApiToken, now: number) {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    state: state(token, now),
    created_at: isoTime(token.createdAt),
    expires_at: isoTimeOrNull(token.expiresAt),
    revoked_at: isoTimeOrNull(token.revokedAt),
    last_used_at: isoTimeOrNull(token.lastUsedAt),
  }
}
