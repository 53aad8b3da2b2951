import type { Command } from 'commander'
import { OperatorError } from '../operator-error.ts'
import type { Service } from '../service.ts'
import type { SealedRow } from '../store/store.ts'
import { SealError } from '../tokens/key-ring.ts'
import { sealPurposes, type Tokens } from '../tokens/tokens.ts'
import { print, printJson, progressBar } from './terminal.ts'
import { withService } from './with-service.ts'

const batch = 500

export function addKeysCommands(program: Command): void {
  program
    .command('keys')
    .description('Look after the master keys.')
    .command('rotate')
    .description('Seal every stored token and connection anew under the newest master key, while the service runs.')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
First restart the service with the new key in front: UGS_MASTER_KEY=NEW,OLD. Then run this with the same setting.
It can be stopped and run again: it goes on where it was. Once it says that the old key is no longer needed, restart
the service without it.

Example:
  UGS_MASTER_KEY=NEW,OLD ugs keys rotate`,
    )
    .action((options: { json?: boolean }) =>
      withService(async (service) => {
        const result = await rotateKeys(service)
        if (options.json) return printJson(result)
        print(`Sealed ${result.resealed} values anew under master key ${result.key}.`)
        for (const id of result.retired) print(`Master key ${id} is no longer needed: take it out of UGS_MASTER_KEY.`)
      }),
    )
}

async function rotateKeys({ store, tokens }: Service) {
  const key = tokens.newestKeyId
  const bar = progressBar('Sealing')
  const total = await store.keys.countSealedByOthers(key)
  let resealed = 0
  for (const purpose of sealPurposes) {
    let last: number | string = purpose === 'user_group.token' ? 0 : ''
    for (;;) {
      const rows = await store.keys.sealedByOthers(purpose, key, last, batch)
      if (rows.length === 0) break
      resealed += await store.keys.reseal(rows.map((row) => ({ ...row, fresh: tokens.seal(opened(row, tokens), row) })))
      last = rows.at(-1)?.id ?? last
      bar.show(resealed, total)
    }
  }
  bar.end()
  return { key, resealed, retired: await store.keys.retireOthers(key) }
}

function opened(row: SealedRow, tokens: Tokens): Buffer {
  try {
    return tokens.open(row.sealed, row)
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    throw new OperatorError(
      `The ${row.purpose} with id ${row.id} of team ${row.teamId} does not open: ${error.message}.`,
      'Restore it from a backup or set it anew, and run this again: it goes on where it was, and no key is retired before.',
      error,
    )
  }
}
