import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Command } from 'commander'
import { addApiTokenCommands } from './api-token.ts'
import { addBackupCommand } from './backup.ts'
import { addDataSourceCommands } from './data-source.ts'
import { addDoctorCommand } from './doctor.ts'
import { addEventsCommand } from './events.ts'
import { addKeysCommands } from './keys.ts'
import { addRestoreCommand } from './restore.ts'
import { addSchemaCommands } from './schema.ts'
import { addTeamCommands } from './team.ts'
import { addUserGroupCommands } from './user-group.ts'

const program = new Command('ugs')
for (const add of [
  ...[addTeamCommands, addApiTokenCommands, addUserGroupCommands, addSchemaCommands, addDataSourceCommands],
  ...[addEventsCommand, addKeysCommands, addBackupCommand, addRestoreCommand, addDoctorCommand],
])
  add(program)

/** Those that do something, each with its whole name. */
function commandsIn(command: Command, name = command.name()): { name: string; command: Command }[] {
  if (command.commands.length === 0) return [{ name, command }]
  return command.commands.flatMap((inner) => commandsIn(inner, `${name} ${inner.name()}`))
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({
    writeOut: (text) => {
      help += text
    },
  })
  command.outputHelp()
  return help
}

describe('the help', () => {
  for (const { name, command } of commandsIn(program)) {
    it(`of ${name} says what it does and has an example`, () => {
      assert.match(command.description(), /^[A-Z].+\.$/)
      assert.match(helpOf(command), new RegExp(`\\nExample:\\n  .*${name}\\b`))
    })

    it(`of ${name} offers --json to scripts, and no way to put a secret into an argument`, () => {
      const flags = command.options.map(({ long }) => long)
      assert.ok(flags.includes('--json'))
      for (const secret of ['--token', '--current-token', '--connection', '--password'])
        assert.ok(!flags.includes(secret))
      assert.ok(command.registeredArguments.every((argument) => !/token|connection/.test(argument.name())))
    })
  }

  it('of ugs api-token create says which scope a token gets when none is given', () => {
    const create = commandsIn(program).find(({ name }) => name === 'ugs api-token create')
    assert.ok(create)
    assert.match(helpOf(create.command).replaceAll(/\s+/g, ' '), /--scope [^-]*\(default: provision\)/)
  })
})
