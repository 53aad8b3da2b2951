import type { Command } from 'commander'
import type { Static } from 'typebox'
import { ServiceError } from '../errors.ts'
import { given } from '../http/fields.ts'
import type { Service } from '../service.ts'
import { SealError } from '../tokens/key-ring.ts'
import type { UserGroupOut } from '../user-groups/schema.ts'
import { unopenedToken } from './damaged.ts'
import { example, parseCount, parseJsonOption, parseName, type TeamOptions, withTeam } from './options.ts'
import { perform, performOnce } from './perform.ts'
import { readToken } from './secret-input.ts'
import { print, printJson, printRecord, say } from './terminal.ts'
import { teamNamed, withService } from './with-service.ts'

type WithToken = Static<typeof UserGroupOut>
type Made = { user_group: WithToken; new_user_group: boolean }

interface TokenOptions extends TeamOptions {
  tokenFile?: string
}

interface RotateOptions extends TokenOptions {
  graceSeconds?: number
}

interface CreateOptions extends TeamOptions {
  name?: string
  mapping?: unknown
  properties?: unknown
}

const whereTheTokenComesFrom = `
The token is read from standard input, or from a file: an argument would show in the list of processes.
`

const orPipeIt = 'pipe it in, or name its file with --token-file'

/** What prints the token of a user group, or is done with it in hand. */
export function addUserGroupTokenCommands(userGroup: Command): void {
  addCreate(userGroup)
  addRotate(userGroup)
  addVerify(userGroup)
}

function addCreate(userGroup: Command): void {
  const create = withArguments(userGroup.command('create'), 1, 'bring it along with ugs user-group import')
  withTeam(create, 'print it as JSON, with its token under "token"')
    .description('Make a user group and print its token; one that is there already is left as it is.')
    .argument('<id>', 'its id, the one of your own database')
    .option('--name <name>', 'what people call it (default: its id)', parseName)
    .option('--mapping <json>', 'from schema ids to data sources', parseJsonOption)
    .option('--properties <json>', 'what the dashboards are told about it', parseJsonOption)
    .addHelpText('after', example('ugs user-group create acme --name "Acme Inc." > token.txt'))
    .action(async (id: string, { team, json, name, mapping, properties }: CreateOptions) => {
      const body = given({ user_group_id: id, name, mapping, properties })
      const made = performOnce<Made>(team, 'user_group.get_or_create', { body })
      const { user_group: group, new_user_group } = await made.catch(tellOfSeal(id, team))
      if (json) return printJson({ ...group, new_user_group })
      const what = new_user_group ? 'is new' : 'was there already, and is left as it is'
      say(`User group ${group.provided_id} (${group.name}) ${what}. Its token:`)
      print(group.token)
    })
}

function addRotate(userGroup: Command): void {
  const json = 'print the user group as JSON, with the new token under "token"'
  withTeam(withArguments(userGroup.command('rotate'), 1), json)
    .description('Replace the token of a user group and print the new one; the old one ends at once.')
    .argument('[id]', 'the id of the group, where its token is not in hand')
    .option('--token-file <file>', 'read the current token from a file instead of standard input')
    .option('--grace-seconds <count>', 'let the old token verify that much longer, up to 604800', parseCount)
    .addHelpText(
      'after',
      `${whereTheTokenComesFrom}With an id no token is read: the stored one is replaced.
${example('ugs user-group rotate --token-file old.txt > new.txt', 'ugs user-group rotate acme > new.txt')}`,
    )
    .action(async (id: string | undefined, options: RotateOptions, command: Command) => {
      if (id !== undefined && options.tokenFile !== undefined)
        command.error('error: name a group, or the file of its token, not both')
      const group = id === undefined ? await rotateGiven(options) : await rotateStored(id, options)
      if (options.json) return printJson(group)
      say(`The new token of user group ${group.provided_id} (${group.name}):`)
      print(group.token)
    })
}

async function rotateGiven(options: RotateOptions): Promise<WithToken> {
  const token = await readToken(options.tokenFile)
  return withService((service) => rotate(service, token, options))
}

function rotateStored(id: string, options: RotateOptions): Promise<WithToken> {
  return withService(async (service) => {
    const team = await teamNamed(service, options.team)
    const group = await service.store.forTeam(team.id, null).userGroups.find(id)
    if (group === undefined) throw new ServiceError('user_group_not_found')
    return rotate(service, service.tokens.openToken(group), options)
  }).catch(tellOfSeal(id, options.team))
}

async function rotate(service: Service, token: string, { team, graceSeconds }: RotateOptions): Promise<WithToken> {
  const body = given({ current_token: token, grace_seconds: graceSeconds })
  return (await perform<{ user_group: WithToken }>(service, team, 'user_group.rotate_token', { body })).user_group
}

function tellOfSeal(id: string, team: number): (error: unknown) => never {
  return (error) => {
    throw error instanceof SealError ? unopenedToken(id, team, error) : error
  }
}

function addVerify(userGroup: Command): void {
  withTeam(withArguments(userGroup.command('verify'), 0), 'print the answer as JSON')
    .description('Tell whose token this is, and which data sources and properties it opens.')
    .option('--token-file <file>', 'read the token from a file instead of standard input')
    .addHelpText(
      'after',
      `${whereTheTokenComesFrom}The exit status is 0 for a token that works, 1 for one that does not, or when there is no answer, 2 for a wrong call.
${example('ugs user-group verify --json < token.txt')}`,
    )
    .action(async (options: TokenOptions) => {
      const token = await readToken(options.tokenFile)
      const answer = await performOnce<{ active: boolean }>(options.team, 'token.verify', { body: { token } })
      printRecord(answer, options.json)
      if (!answer.active) process.exitCode = 1
    })
}

/** One too many is most likely a token: the usual complaint would repeat it, on a screen or in a log. */
function withArguments(command: Command, most: number, instead = orPipeIt): Command {
  return command.allowExcessArguments().hook('preAction', (_parent, called) => {
    if (called.args.length > most || called.args.some((argument) => /^ug[ta]_/.test(argument)))
      called.error(`error: a token is no argument: ${instead}`)
  })
}
