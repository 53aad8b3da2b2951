import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { OperatorError } from '../operator-error.ts'
import type { Service } from '../service.ts'
import type { SealedRow } from '../store/store.ts'
import { SealError } from '../tokens/key-ring.ts'
import { sealPurposes } from '../tokens/tokens.ts'
import { counted } from './counted.ts'
import { unopened } from './damaged.ts'
import { example } from './options.ts'
import { progressBar } from './progress-bar.ts'
import { print, printJson } from './terminal.ts'
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
First restart the service with the new key in front: UGS_MASTER_KEY=NEW,OLD, or the same text in the file that holds
the key. Then run this with the same setting. It can be stopped and run again: it goes on where it was. Once it
says that the old key is no longer needed, restart the service without it.
${example('UGS_MASTER_KEY=NEW,OLD ugs keys rotate')}`,
    )
    .action((options: { json?: boolean }) => withService((service) => rotate(service, options.json)))
}

async function rotate(service: Service, json: boolean | undefined): Promise<void> {
  const result = await rotateKeys(service)
  if (json) return printJson(result)
  print(`Sealed ${counted(result.resealed, 'value')} anew under master key ${result.key}.`)
  const { masterKey } = readConfig(process.env)
  const place = masterKey.kind === 'file' ? masterKey.path : 'UGS_MASTER_KEY'
  for (const id of result.retired) print(`Master key ${id} is no longer needed: take it out of ${place}.`)
  for (const id of result.unused)
    print(`Nothing is sealed under master key ${id}: if it is the old one, take it out of ${place}.`)
}

async function rotateKeys(service: Service) {
  const { store, tokens } = service
  const key = tokens.newestKeyId
  const bar = progressBar('Sealing')
  const total = await store.keys.countSealedByOthers(key)
  let resealed = 0
  try {
    for (const purpose of sealPurposes) {
      let last: number | string = purpose === 'user_group.token' ? 0 : ''
      for (;;) {
        const rows = await store.keys.sealedByOthers(purpose, key, last, batch)
        if (rows.length === 0) break
        const sealing = rows.map(async (row) => ({ ...row, fresh: tokens.seal(await opened(row, service), row) }))
        resealed += await store.keys.reseal(await Promise.all(sealing))
        last = rows.at(-1)?.id ?? last
        bar.show(resealed, total)
      }
    }
  } finally {
    bar.end()
  }
  const retired = await store.keys.retireOthers(key)
  const stillInUse = [...(await store.keys.all()).keys()].filter((id) => id !== key)
  if (stillInUse.length > 0)
    throw new OperatorError(
      `Something is still sealed under master key ${stillInUse.join(' and ')}: a process goes on using it.`,
      'Keep that key. Restart every process of the service with the new key in front, and run this again.',
    )
  return { key, resealed, retired, unused: tokens.keyIds.filter((id) => id !== key && !retired.includes(id)) }
}

async function opened(row: SealedRow, { store, tokens }: Service): Promise<Buffer> {
  try {
    return tokens.open(row.sealed, row)
  } catch (error) {
    throw error instanceof SealError ? await unopened(row, store, error) : error
  }
}
