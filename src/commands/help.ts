import type { Command } from 'commander'

/** In the place of commander's own, which shows the whole help for a command that does not exist, as if nothing were wrong. */
export function addHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .description('display help for command')
    .argument('[command...]', 'its words, such as: team create')
    .action((words: string[]) => {
      const named = words.reduce((command, word) => {
        const found = command.commands.find((inner) => inner.name() === word)
        return found ?? command.error(`error: unknown command '${word}'`)
      }, program)
      named.help()
    })
}
