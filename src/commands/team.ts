import { type Command, InvalidArgumentError } from 'commander'
import type { Team } from '../teams/team.ts'
import { print, printJson, table, when } from './terminal.ts'
import { withService } from './with-service.ts'

export function addTeamCommands(program: Command): void {
  const team = program.command('team').description('Make and list teams.')

  team
    .command('create')
    .description('Make a team. Its API tokens come from "ugs api-token create".')
    .argument('<name>', 'what people call it', parseName)
    .option('--json', 'print the team as JSON')
    .addHelpText('after', '\nExample:\n  ugs team create "Acme Analytics"')
    .action((name: string, options: { json?: boolean }) =>
      withService(async ({ store, clock }) => {
        const made = await store.teams.create(name, clock.now())
        if (options.json) printJson(forScripts(made))
        else print(`Made team ${made.id}. Give it an API token: ugs api-token create NAME --team ${made.id}`)
      }),
    )

  team
    .command('list')
    .description('List the teams.')
    .option('--json', 'print them as JSON')
    .addHelpText('after', '\nExample:\n  ugs team list --json')
    .action((options: { json?: boolean }) =>
      withService(async ({ store }) => {
        const teams = await store.teams.list()
        if (options.json) printJson(teams.map(forScripts))
        else
          print(
            table(
              ['ID', 'NAME', 'CREATED'],
              teams.map(({ id, name, createdAt }) => [String(id), name, when(createdAt)]),
            ),
          )
      }),
    )
}

export function parseName(text: string): string {
  if (!/^[^\p{Cc}\p{Cs}]{1,255}$/u.test(text))
    throw new InvalidArgumentError('A name is 1 to 255 characters without control characters.')
  return text
}

function forScripts({ id, name, createdAt }: Team) {
  return { id, name, created_at: when(createdAt) }
}
