import { ServiceError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Tokens } from '../tokens/tokens.ts'
import type { ApiToken, NewApiToken } from './api-token.ts'

/** Another process may have made the same id in the same millisecond: then the next is tried. */
export async function issueApiToken(
  wish: Pick<ApiToken, 'name' | 'scopes' | 'expiresAt'>,
  tokens: Tokens,
  now: number,
  add: (token: NewApiToken) => Promise<unknown>,
): Promise<{ token: ApiToken; secret: string }> {
  const secret = tokens.mintForApi()
  const hash = tokens.hash(secret)
  for (;;) {
    const id = newId(now)
    try {
      await add({ ...wish, id, hash })
      return { token: { ...wish, id, createdAt: now, revokedAt: null, lastUsedAt: null }, secret }
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'conflict')) throw error
    }
  }
}
