import type { Sealed } from '../tokens/key-ring.ts'
import type { SealPurpose } from '../tokens/tokens.ts'
import { type Database, run, type Statement, sql } from './database.ts'
import type { KeyStore, Resealed, SealedRow } from './store.ts'

const masterKeys = sql<[id: string, lookupKey: Uint8Array]>`select id, lookup_key from master_key`
const insertMasterKey = sql`insert into master_key (id, lookup_key, created_at) values ($1, $2, $3)`

const countByOthers = sql<[count: number]>`
  select (select count(*) from user_group where token_key <> $1)
    + (select count(*) from data_source where connection_key <> $1)`

type SealedColumns = [id: number | string, teamId: number, keyId: string, sealed: Uint8Array]

const byOthers: Record<SealPurpose, Statement<SealedColumns>> = {
  'user_group.token': sql`
    select id, team_id, token_key, token_sealed from user_group
    where id > $2 and token_key <> $1 order by id limit $3`,
  'data_source.connection': sql`
    select id, team_id, connection_key, connection_sealed from data_source
    where id > $2 and connection_key <> $1 order by id limit $3`,
}

const reseal: Record<SealPurpose, Statement<[id: number | string]>> = {
  'user_group.token': sql`
    update user_group set token_key = $3, token_sealed = $4 where id = $1 and token_sealed = $2 returning id`,
  'data_source.connection': sql`
    update data_source set connection_key = $3, connection_sealed = $4 where id = $1 and connection_sealed = $2
    returning id`,
}

const retire = sql<[id: string]>`
  delete from master_key
  where id <> $1
    and not exists (select 1 from user_group where token_key = master_key.id)
    and not exists (select 1 from data_source where connection_key = master_key.id)
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

  async sealedByOthers(
    purpose: SealPurpose,
    keyId: string,
    after: number | string,
    limit: number,
  ): Promise<SealedRow[]> {
    const rows = await this.#database.read(byOthers[purpose], keyId, after, limit)
    return rows.map(([id, teamId, keyId, bytes]) => ({ purpose, teamId, id, sealed: { keyId, bytes } }))
  }

  reseal(rows: readonly Resealed[]): Promise<number> {
    return this.#database.write(function* () {
      let done = 0
      for (const { purpose, id, sealed, fresh } of rows)
        done += (yield* run(reseal[purpose], id, sealed.bytes, fresh.keyId, fresh.bytes)).length
      return done
    }, 'repeatable')
  }

  retireOthers(keyId: string): Promise<string[]> {
    return this.#database.exclusively(function* () {
      return (yield* run(retire, keyId)).map(([id]) => id)
    })
  }
}
