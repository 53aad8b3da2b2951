import type { Command } from 'commander'
import { isoTime } from '../clock.ts'
import { given } from '../http/fields.ts'
import { presentTeam, type Team } from '../teams/team.ts'
import { example, parseName, parseSwitch, requireChange, type TeamOptions, withTeam } from './options.ts'
import { performOnce } from './perform.ts'
import { table } from './table.ts'
import { print, printJson, printRecord } from './terminal.ts'
import { withService } from './with-service.ts'

export function addTeamCommands(program: Command): void {
  const team = program.command('team').description('Make, list and change teams.')

  team
    .command('create')
    .description('Make a team. Its API tokens come from "ugs api-token create".')
    .argument('<name>', 'what people call it', parseName)
    .option('--json', 'print the team as JSON')
    .addHelpText('after', example('ugs team create "Acme Analytics"'))
    .action((name: string, options: { json?: boolean }) =>
      withService(async ({ store, clock }) => {
        const made = await store.teams.create(name, clock.now())
        if (options.json) printJson(forScripts(made))
        else print(`Made team ${made.id}. Give it an API token: ugs api-token create NAME --team ${made.id}`)
      }),
    )

  team
    .command('list')
    .description('List the teams and their settings.')
    .option('--json', 'print them as JSON')
    .addHelpText('after', example('ugs team list --json'))
    .action((options: { json?: boolean }) =>
      withService(async ({ store }) => {
        const teams = await store.teams.list()
        if (options.json) return printJson(teams.map(forScripts))
        const rows = teams.map(({ id, name, strictMapping, createdAt }) => {
          return [String(id), name, strictMapping ? 'on' : 'off', isoTime(createdAt)]
        })
        print(table(['ID', 'NAME', 'STRICT MAPPING', 'CREATED'], rows))
      }),
    )

  withTeam(team.command('update'), 'print the team as JSON')
    .description('Change a team: only what is given.')
    .option('--name <name>', 'a new name', parseName)
    .option('--strict-mapping <on|off>', 'refuse mappings to data sources that do not exist', parseSwitch)
    .addHelpText('after', example('ugs team update --team 2 --strict-mapping on'))
    .action(async (options: TeamOptions & { name?: string; strictMapping?: boolean }, command: Command) => {
      const body = given({ name: options.name, strict_mapping: options.strictMapping })
      requireChange(command, body, '--name or --strict-mapping')
      printRecord((await performOnce<{ team: object }>(options.team, 'team.update', { body })).team, options.json)
    })
}

function forScripts(team: Team) {
  return { ...presentTeam(team), created_at: isoTime(team.createdAt) }
}
