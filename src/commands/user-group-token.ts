import type { Command } from 'commander'
import type { Static } from 'typebox'
import { given } from '../http/fields.ts'
import type { UserGroupOut } from '../user-groups/schema.ts'
import { example, parseCount, type TeamOptions, withTeam } from './options.ts'
import { performOnce } from './perform.ts'
import { readToken } from './secret-input.ts'
import { print, printJson, printRecord, say } from './terminal.ts'

interface TokenOptions extends TeamOptions {
  tokenFile?: string
}

const whereTheTokenComesFrom = `
The token is read from standard input, or from a file: an argument would show in the list of processes.
`

/** What is done with a user group's token in hand. */
export function addUserGroupTokenCommands(userGroup: Command): void {
  withTeam(
    withoutArguments(userGroup.command('rotate')),
    'print the user group as JSON, with the new token under "token"',
  )
    .description('Replace the token of a user group and print the new one; the old one ends at once.')
    .option('--token-file <file>', 'read the current token from a file instead of standard input')
    .option('--grace-seconds <count>', 'let the old token verify that much longer, up to 604800', parseCount)
    .addHelpText('after', whereTheTokenComesFrom + example('ugs user-group rotate --token-file old.txt > new.txt'))
    .action(async (options: TokenOptions & { graceSeconds?: number }) => {
      const token = await readToken(options.tokenFile)
      const body = given({ current_token: token, grace_seconds: options.graceSeconds })
      const answer = await performOnce<{ user_group: Static<typeof UserGroupOut> }>(
        options.team,
        'user_group.rotate_token',
        { body },
      )
      const { user_group: group } = answer
      if (options.json) return printJson(group)
      say(`The new token of user group ${group.provided_id} (${group.name}):`)
      print(group.token)
    })

  withTeam(withoutArguments(userGroup.command('verify')), 'print the answer as JSON')
    .description('Tell whose token this is, and which data sources and properties it opens.')
    .option('--token-file <file>', 'read the token from a file instead of standard input')
    .addHelpText('after', whereTheTokenComesFrom + example('ugs user-group verify --json < token.txt'))
    .action(async (options: TokenOptions) => {
      const token = await readToken(options.tokenFile)
      printRecord(await performOnce(options.team, 'token.verify', { body: { token } }), options.json)
    })
}

/** An argument is most likely a token: the usual complaint would repeat it, on a screen or in a log. */
function withoutArguments(command: Command): Command {
  return command.allowExcessArguments().hook('preAction', (_parent, called) => {
    if (called.args.length > 0)
      called.error('error: a token is no argument: pipe it in, or name its file with --token-file')
  })
}
