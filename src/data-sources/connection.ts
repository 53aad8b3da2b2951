import { keepableJson } from '../json.ts'
import type { Sealed } from '../tokens/key-ring.ts'
import type { Tokens } from '../tokens/tokens.ts'

/** A connection is a secret like a token: it is kept sealed, bound to its data source. */
export function sealConnection(connection: object, tokens: Tokens, teamId: number, id: string): Sealed {
  const plain = Buffer.from(keepableJson(connection, 'connection'))
  return tokens.seal(plain, { purpose: 'data_source.connection', teamId, id })
}
