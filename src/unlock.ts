import { randomBytes } from 'node:crypto'
import { OperatorError } from './operator-error.ts'
import type { KeyStore, Store } from './store/store.ts'
import { type KeyRing, SealError } from './tokens/key-ring.ts'
import { Tokens } from './tokens/tokens.ts'

const context = 'master_key.lookup_key'

/**
 * Proves that the ring opens what is stored, or refuses. The look-up key is random, made once for a database and kept
 * sealed under every master key in use: opening it is the proof. Were it derived from the master key instead, API
 * tokens, of which only hashes exist, would all die with the master key.
 *
 * A key that comes in is needed from then on, by every process: who is not to bring one is refused.
 */
export async function unlock(
  ring: KeyRing,
  { keys, leadsFrom }: Pick<Store, 'keys' | 'leadsFrom'>,
  now: number,
  bringsKey: boolean,
): Promise<Tokens> {
  let lookupKey: Uint8Array | undefined
  await keys.register((known) => {
    for (const [keyId, bytes] of known) lookupKey = openWith(ring, keyId, bytes)
    if (known.has(ring.newestId)) return undefined
    if (!bringsKey) throw newKey(ring)
    lookupKey ??= randomBytes(32)
    return ring.seal(lookupKey, context)
  }, now)
  if (lookupKey === undefined) throw new Error('the database has no look-up key')
  return new Tokens(ring, lookupKey, await leadsFrom())
}

/** The same proof for a look that changes nothing. Undefined for a database that no service has unlocked yet. */
export async function proveKeys(ring: KeyRing, keys: KeyStore): Promise<Tokens | undefined> {
  let lookupKey: Uint8Array | undefined
  for (const [keyId, bytes] of await keys.all()) lookupKey = openWith(ring, keyId, bytes)
  return lookupKey && new Tokens(ring, lookupKey, Infinity)
}

export function newKey({ newestId }: KeyRing): OperatorError {
  return new OperatorError(
    `The newest of the configured master keys, ${newestId}, is new to the database.`,
    'Check UGS_MASTER_KEY, or the file that holds the key. To bring a new key in, restart the service with both keys first.',
  )
}

function openWith(ring: KeyRing, keyId: string, bytes: Uint8Array): Uint8Array {
  if (!ring.has(keyId))
    throw new OperatorError(
      `What is stored is sealed under master key ${keyId}, which is not among the configured ones (${ring.ids.join(', ')}).`,
      'Add that key to UGS_MASTER_KEY behind the newest, separated by a comma, or restore the master.key file.',
    )
  try {
    return ring.open({ keyId, bytes }, context)
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    throw new OperatorError(
      `Master key ${keyId} does not open what is stored: ${error.message}.`,
      'Restore the database from a backup, or the master key that belongs to it.',
      error,
    )
  }
}
