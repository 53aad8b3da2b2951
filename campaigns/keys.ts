import type { Attempt, Campaign } from './campaign.ts'
import { replaceKeyUnderLoad } from './key-replacement.ts'
import { onBothEngines } from './on-both-engines.ts'
import { attackLookupKey, attackTokens } from './sealed-values.ts'
import { stealDatabase } from './stolen-database.ts'

export const keys: Campaign = {
  promise:
    'A master key is replaced under load without a failed request, wherever the replacing is killed; a stolen database yields nothing without the key; a sealed value that was changed or moved never opens.',
  unit: 'user groups on each engine',
  full: 1_000_000,
  brief: 2_000,
  // Fewer are sealed anew before anybody can interfere.
  least: 2_000,
  bugs: {
    'a seal that fits every row': {
      on: 'SQLite',
      shows: /opened although it was moved/,
      rewrites: [
        {
          file: 'tokens/tokens.ts',
          find: 'context({ purpose, teamId, id }: Place): string {',
          replace: 'context({ purpose }: Place): string { const [teamId, id] = [0, 0]',
        },
      ],
    },
    'rows that are marked as sealed anew, and are not': {
      shows: /failed while the key was replaced|is not as it was/,
      rewrites: [
        {
          file: 'commands/keys.ts',
          find: 'fresh: tokens.seal(',
          replace: 'fresh: Number(row.id) % 3 === 0 ? { keyId: key, bytes: row.sealed.bytes } : tokens.seal(',
        },
      ],
    },
    'a hash that needs no key': {
      shows: /turned up in the stolen database/,
      rewrites: [
        {
          file: 'tokens/keyed-hash.ts',
          find: 'return (text) => {',
          replace: "return (text) => {\n    if (text !== '') return hash('sha256', text, 'buffer')",
        },
      ],
    },
  },
  async run(attempt) {
    const each = await onBothEngines(attempt, async (premises, { name }) => {
      await stealDatabase(premises)
      const replaced = await replaceKeyUnderLoad(premises, attempt, noteOf(attempt, name))
      const { service, environment } = replaced
      const attacked = await attackTokens(service.caller, environment, Math.min(Math.floor(attempt.size / 20), 700))
      return { ...replaced, attacks: replaced.attacks + attacked + (await attackLookupKey(environment)) }
    })
    const sum = (count: (result: (typeof each)[number]) => number) => each.map(count).reduce((a, b) => a + b)
    return (
      `${attempt.size} groups sealed anew on each engine, ${sum(({ kills }) => kills)} times killed on the way, ` +
      `${sum(({ requests }) => requests)} requests meanwhile, 0 failed, 0 tokens changed; ` +
      `${sum(({ attacks }) => attacks)} sealed values changed or moved, 0 opened`
    )
  },
}

function noteOf({ progress }: Attempt, engine: string) {
  return (done: number, what: string) => progress(done, `${what} on ${engine}`)
}
