import type { Command } from 'commander'
import type { Static } from 'typebox'
import type { DataSourceOut } from '../data-sources/schema.ts'
import { given } from '../http/fields.ts'
import { parseJson } from '../json.ts'
import { OperatorError } from '../operator-error.ts'
import { listPages } from './list-pages.ts'
import { example, parseName, requireChange, type TeamOptions, withTeam } from './options.ts'
import { performOnce } from './perform.ts'
import { readSecret } from './secret-input.ts'
import { table } from './table.ts'
import { print, printJson, printRecord } from './terminal.ts'

type DataSource = Static<typeof DataSourceOut>

interface DataSourceOptions extends TeamOptions {
  providedId?: string
  schema?: string
  name?: string
  kind?: string
  connectionFile?: string
}

const whereTheConnectionComesFrom = `
The connection is read from a file, or from standard input with "-": an argument would show in the list of processes.
It is stored sealed and never shown again.
`

export function addDataSourceCommands(program: Command): void {
  const dataSource = program.command('data-source').description('Look after the data sources of a team.')

  withFields(withTeam(dataSource.command('create'), 'print it as JSON'))
    .description('Make a data source: what a schema stands for with one customer, such as a database.')
    .requiredOption('--schema <id>', 'the schema it belongs to', parseName)
    .addHelpText(
      'after',
      whereTheConnectionComesFrom +
        example('ugs data-source create --schema sales --provided-id acme-db --connection-file acme.json'),
    )
    .action(async (options: DataSourceOptions) => {
      const body = await fieldsOf(options)
      const answer = await performOnce<{ data_source: DataSource }>(options.team, 'data_source.create', { body })
      printRecord(answer.data_source, options.json)
    })

  withTeam(dataSource.command('list'), 'print them as JSON')
    .description('List the data sources of a team, oldest first, without their connections.')
    .addHelpText('after', example('ugs data-source list'))
    .action(async (options: TeamOptions) => {
      const { items } = await listPages<DataSource>(options.team, 'data_source.list', 'data_sources')
      if (options.json) return printJson(items)
      const rows = items.map((source) => [
        ...[source.id, source.provided_id ?? '-', source.schema_id, source.name, source.kind ?? '-'],
        source.updated_at,
      ])
      print(table(['ID', 'PROVIDED ID', 'SCHEMA', 'NAME', 'KIND', 'UPDATED'], rows))
    })

  withTeam(dataSource.command('show'), 'print it as JSON')
    .description('Show one data source, without its connection.')
    .argument('<id>', 'its id (ds_…), or your own id for it')
    .addHelpText('after', example('ugs data-source show acme-db'))
    .action(async (id: string, options: TeamOptions) => {
      const answer = await performOnce<{ data_source: DataSource }>(options.team, 'data_source.get', { id })
      printRecord(answer.data_source, options.json)
    })

  withFields(withTeam(dataSource.command('update'), 'print it as JSON'))
    .description('Change a data source: only what is given.')
    .argument('<id>', 'its id (ds_…), or your own id for it')
    .option('--schema <id>', 'the schema it belongs to', parseName)
    .addHelpText(
      'after',
      whereTheConnectionComesFrom + example('ugs data-source update acme-db --connection-file - < acme.json'),
    )
    .action(async (id: string, options: DataSourceOptions, command: Command) => {
      const body = await fieldsOf(options)
      requireChange(command, body, '--schema, --provided-id, --name, --kind or --connection-file')
      const answer = await performOnce<{ data_source: DataSource }>(options.team, 'data_source.update', { id, body })
      printRecord(answer.data_source, options.json)
    })

  withTeam(dataSource.command('delete'), 'print the result as JSON')
    .description('Delete a data source that no user group is mapped to.')
    .argument('<id>', 'its id (ds_…), or your own id for it')
    .addHelpText('after', example('ugs data-source delete acme-db'))
    .action(async (id: string, options: TeamOptions) => {
      await performOnce(options.team, 'data_source.delete', { id })
      if (options.json) printJson({ deleted: id })
      else print(`Deleted data source ${id}.`)
    })
}

function withFields(command: Command): Command {
  return command
    .option('--provided-id <id>', 'your own id for it', parseName)
    .option('--name <name>', 'what people call it', parseName)
    .option('--kind <kind>', 'what it is, such as postgres', parseName)
    .option('--connection-file <file>', 'how to reach it: a file with a JSON object, or - for standard input')
}

async function fieldsOf({ providedId, schema, name, kind, connectionFile }: DataSourceOptions) {
  const connection = connectionFile === undefined ? undefined : await readConnection(connectionFile)
  return given({ schema_id: schema, provided_id: providedId, name, kind, connection })
}

async function readConnection(file: string): Promise<unknown> {
  const text = await readSecret(file)
  try {
    return parseJson(text)
  } catch {
    // Without the parser's own words: they quote the text, which is a secret.
    throw new OperatorError('The connection is not valid JSON.', 'Write one JSON object, such as {"host":"…"}.')
  }
}
