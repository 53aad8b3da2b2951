import { type Command, Option } from 'commander'
import type { Static } from 'typebox'
import { given } from '../http/fields.ts'
import type { UserGroupRecordOut } from '../user-groups/schema.ts'
import { listPages } from './list-pages.ts'
import {
  example,
  parseJsonOption,
  parseLimit,
  parseName,
  requireChange,
  type TeamOptions,
  withTeam,
} from './options.ts'
import { performOnce } from './perform.ts'
import { table } from './table.ts'
import { print, printJson, printRecord, say } from './terminal.ts'
import { addUserGroupExport } from './user-group-export.ts'
import { addUserGroupImport } from './user-group-import.ts'
import { addUserGroupTokenCommands } from './user-group-token.ts'

type Listed = Static<typeof UserGroupRecordOut>

export function addUserGroupCommands(program: Command): void {
  const userGroup = program.command('user-group').description('Look after the user groups of a team.')
  addList(userGroup)
  addShow(userGroup)
  addUpdate(userGroup)
  addDelete(userGroup)
  addUserGroupTokenCommands(userGroup)
  addUserGroupImport(userGroup)
  addUserGroupExport(userGroup)
}

function addList(userGroup: Command): void {
  withTeam(userGroup.command('list'), 'print them as JSON')
    .description('List the user groups of a team, oldest first, without their tokens.')
    .option('--q <prefix>', 'only those whose id or name begins with it')
    .option('--limit <count>', 'how many at most', parseLimit, 100)
    .addHelpText('after', example('ugs user-group list --q acme'))
    .action(async ({ team, json, ...wanted }: TeamOptions & { q?: string; limit: number }) => {
      const { items: groups, more } = await listPages<Listed>(team, 'user_group.list', 'user_groups', wanted)
      if (json) printJson(groups)
      else {
        const rows = groups.map((group) => [
          ...[group.provided_id, group.name, group.disabled ? 'disabled' : 'active'],
          ...[group.created_at, group.token_rotated_at ?? '-'],
        ])
        print(table(['ID', 'NAME', 'STATE', 'CREATED', 'TOKEN ROTATED'], rows))
      }
      if (more) say(`There are more than the ${groups.length} shown: raise --limit, or narrow them down with --q.`)
    })
}

function addShow(userGroup: Command): void {
  withTeam(userGroup.command('show'), 'print it as JSON')
    .description('Show one user group, without its token.')
    .argument('<id>', 'its id, the one of your own database')
    .addHelpText('after', example('ugs user-group show acme'))
    .action(async (id: string, options: TeamOptions) => {
      const { user_group } = await performOnce<{ user_group: Listed }>(options.team, 'user_group.get', { id })
      printRecord(user_group, options.json)
    })
}

interface UpdateOptions extends TeamOptions {
  name?: string
  rename?: string
  mapping?: unknown
  properties?: unknown
  disable?: true
  enable?: true
}

function addUpdate(userGroup: Command): void {
  withTeam(userGroup.command('update'), 'print the user group as JSON')
    .description('Change a user group: only what is given. Its token stays, under a new id too.')
    .argument('<id>', 'its id')
    .option('--name <name>', 'a new name', parseName)
    .option('--rename <id>', 'a new id', parseName)
    .option('--mapping <json>', 'a new mapping, from schema ids to data sources', parseJsonOption)
    .option('--properties <json>', 'new properties', parseJsonOption)
    .addOption(new Option('--disable', 'let its token no longer verify').conflicts('enable'))
    .addOption(new Option('--enable', 'let its token verify again'))
    .addHelpText('after', example(`ugs user-group update acme --name "Acme Inc." --mapping '{"sales":"acme-db"}'`))
    .action(async (id: string, options: UpdateOptions, command: Command) => {
      const { name, rename, mapping, properties, disable, enable } = options
      const disabled = disable ?? (enable && false)
      const body = given({ name, provided_id: rename, mapping, properties, disabled })
      requireChange(command, body, '--name, --rename, --mapping, --properties, --disable or --enable')
      const { user_group } = await performOnce<{ user_group: Listed }>(options.team, 'user_group.update', { id, body })
      printRecord(user_group, options.json)
    })
}

function addDelete(userGroup: Command): void {
  withTeam(userGroup.command('delete'), 'print the result as JSON')
    .description('Delete a user group with its tokens, old ones too. There is no way back.')
    .argument('<id>', 'its id')
    .addHelpText('after', example('ugs user-group delete acme'))
    .action(async (id: string, options: TeamOptions) => {
      await performOnce(options.team, 'user_group.delete', { id })
      if (options.json) printJson({ deleted: id })
      else print(`Deleted user group ${id} with its tokens.`)
    })
}
