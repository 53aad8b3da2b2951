import assert from 'node:assert/strict'
import { readConfig } from '../src/config.ts'
import { loadKeyRing } from '../src/master-key.ts'
import { Tokens } from '../src/tokens/tokens.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { Environment } from '../test/support/service-process.ts'

/** What opens the sealed values of a database, without a word to it that could change it. */
export async function tokensOf(environment: Environment): Promise<Tokens> {
  const ring = loadKeyRing(readConfig(environment).masterKey)
  const [key] = await rawSql(environment, 'select id, lookup_key from master_key')
  assert.ok(key, 'the database has no look-up key')
  const sealed = { keyId: String(key.id), bytes: key.lookup_key as Uint8Array }
  return new Tokens(ring, ring.open(sealed, 'master_key.lookup_key'), Infinity)
}
