import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { example } from './options.ts'

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the service; settings come from the environment.')
    .addHelpText('after', example('PORT=9000 DATABASE_URL=postgres://ugs@db/ugs UGS_MASTER_KEY=… ugs serve'))
    .action(async () => {
      // Loaded only here: the other commands start without an HTTP server.
      const { runService } = await import('./run-service.ts')
      await runService(readConfig(process.env))
    })
}
