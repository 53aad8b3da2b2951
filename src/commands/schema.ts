import type { Command } from 'commander'
import type { Static } from 'typebox'
import { given } from '../http/fields.ts'
import type { SchemaOut } from '../schemas/schema.ts'
import { listPages } from './list-pages.ts'
import { example, parseName, type TeamOptions, withTeam } from './options.ts'
import { performOnce } from './perform.ts'
import { table } from './table.ts'
import { print, printJson, printRecord } from './terminal.ts'

type Schema = Static<typeof SchemaOut>

export function addSchemaCommands(program: Command): void {
  const schema = program.command('schema').description('Make, list and delete the schemas of a team.')

  withTeam(schema.command('create'), 'print it as JSON')
    .description('Make a schema: a shape of data that dashboards are built on.')
    .argument('[id]', 'its id, yours to choose (default: one is made)', parseName)
    .option('--name <name>', 'what people call it (default: its id)', parseName)
    .addHelpText('after', example('ugs schema create sales --name "Sales figures"'))
    .action(async (id: string | undefined, options: TeamOptions & { name?: string }) => {
      const body = given({ id, name: options.name })
      const made = (await performOnce<{ schema: Schema }>(options.team, 'schema.create', { body })).schema
      printRecord(made, options.json)
    })

  withTeam(schema.command('list'), 'print them as JSON')
    .description('List the schemas of a team, oldest first.')
    .addHelpText('after', example('ugs schema list'))
    .action(async (options: TeamOptions) => {
      const { items } = await listPages<Schema>(options.team, 'schema.list', 'schemas')
      const rows = items.map(({ id, name, created_at }) => [id, name, created_at])
      if (options.json) printJson(items)
      else print(table(['ID', 'NAME', 'CREATED'], rows))
    })

  withTeam(schema.command('show'), 'print it as JSON')
    .description('Show one schema.')
    .argument('<id>', 'its id')
    .addHelpText('after', example('ugs schema show sales'))
    .action(async (id: string, options: TeamOptions) => {
      printRecord((await performOnce<{ schema: Schema }>(options.team, 'schema.get', { id })).schema, options.json)
    })

  withTeam(schema.command('delete'), 'print the result as JSON')
    .description('Delete a schema that no data source belongs to.')
    .argument('<id>', 'its id')
    .addHelpText('after', example('ugs schema delete sales'))
    .action(async (id: string, options: TeamOptions) => {
      await performOnce(options.team, 'schema.delete', { id })
      if (options.json) printJson({ deleted: id })
      else print(`Deleted schema ${id}.`)
    })
}
