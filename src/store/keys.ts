import type { Sealed } from '../tokens/tokens.ts'
import { type Database, run, sql } from './database.ts'
import type { KeyStore, SealedRow } from './store.ts'

const masterKeys = sql<[id: string, lookupKey: Uint8Array]>`select id, lookup_key from master_key`
const insertMasterKey = sql`insert into master_key (id, lookup_key, created_at) values ($1, $2, $3)`

const countByOthers = sql<[count: number]>`select count(*) from user_group where token_key <> $1`
const byOthers = sql<[id: number, teamId: number, hash: Uint8Array, keyId: string, sealed: Uint8Array]>`
  select id, team_id, token_hash, token_key, token_sealed from user_group
  where id > $2 and token_key <> $1 order by id limit $3`
const reseal = sql<[id: number]>`
  update user_group set token_key = $3, token_sealed = $4 where id = $1 and token_hash = $2 returning id`

const retire = sql<[id: string]>`
  delete from master_key
  where id <> $1 and not exists (select 1 from user_group where token_key = master_key.id)
  returning id`

export class MasterKeyStore implements KeyStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  register(decide: (known: ReadonlyMap<string, Uint8Array>) => Sealed | undefined, now: number): Promise<void> {
    return this.#database.exclusively(function* () {
      const added = decide(new Map(yield* run(masterKeys)))
      if (added) yield* run(insertMasterKey, added.keyId, added.bytes, now)
    })
  }

  async all(): Promise<ReadonlyMap<string, Uint8Array>> {
    return new Map(await this.#database.read(masterKeys))
  }

  async countSealedByOthers(keyId: string): Promise<number> {
    const [row] = await this.#database.read(countByOthers, keyId)
    return row?.[0] ?? 0
  }

  async sealedByOthers(keyId: string, afterGroupId: number, limit: number): Promise<SealedRow[]> {
    const rows = await this.#database.read(byOthers, keyId, afterGroupId, limit)
    return rows.map(([groupId, teamId, hash, keyId, bytes]) => {
      return { owner: { teamId, groupId }, hash, sealed: { keyId, bytes } }
    })
  }

  reseal(rows: readonly SealedRow[]): Promise<number> {
    return this.#database.write(function* () {
      let done = 0
      for (const { owner, hash, sealed } of rows)
        done += (yield* run(reseal, owner.groupId, hash, sealed.keyId, sealed.bytes)).length
      return done
    }, 'repeatable')
  }

  retireOthers(keyId: string): Promise<string[]> {
    return this.#database.exclusively(function* () {
      return (yield* run(retire, keyId)).map(([id]) => id)
    })
  }
}
