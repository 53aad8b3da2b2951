import type { Sealed } from '../tokens/key-ring.ts'
import { type SealPurpose, sealPurposes } from '../tokens/tokens.ts'
import { type Database, run, type Statement, sql, type Work } from './database.ts'
import type { KeyStore, Resealed, SealedRow } from './store.ts'

const masterKeys = sql<[id: string, lookupKey: Uint8Array]>`select id, lookup_key from master_key`
const insertMasterKey = sql`insert into master_key (id, lookup_key, created_at) values ($1, $2, $3)`

const beforeAll: Record<SealPurpose, number | string> = { 'user_group.token': 0, 'data_source.connection': '' }

/** Looked at by one statement: of millions, all would take longer than one may. */
const stretch = 10_000

const endOfStretch: Record<SealPurpose, Statement<[last: number | string | null]>> = {
  'user_group.token': sql`
    select max(id) from (select id from user_group where id > $1 order by id limit $2) as stretch`,
  'data_source.connection': sql`
    select max(id) from (select id from data_source where id > $1 order by id limit $2) as stretch`,
}

const countByOthers: Record<SealPurpose, Statement<[count: number]>> = {
  'user_group.token': sql`select count(*) from user_group where id > $2 and id <= $3 and token_key <> $1`,
  'data_source.connection': sql`select count(*) from data_source where id > $2 and id <= $3 and connection_key <> $1`,
}

type SealedColumns = [id: number | string, teamId: number, keyId: string, sealed: Uint8Array]

const byOthers: Record<SealPurpose, Statement<SealedColumns>> = {
  'user_group.token': sql`
    select id, team_id, token_key, token_sealed from user_group
    where id > $2 and id <= $3 and token_key <> $1 order by id limit $4`,
  'data_source.connection': sql`
    select id, team_id, connection_key, connection_sealed from data_source
    where id > $2 and id <= $3 and connection_key <> $1 order by id limit $4`,
}

// In the order in which rotations that share a transaction lock theirs: else each might wait for the other.
const lockByOthers: Record<SealPurpose, Statement<[id: number | string, sealed: Uint8Array]>> = {
  'user_group.token': sql`
    select id, token_sealed from user_group g where id between $2 and $3 and token_key <> $1
    order by cast(team_id as text), token_hash for update of g`,
  'data_source.connection': sql`
    select id, connection_sealed from data_source d where id between $2 and $3 and connection_key <> $1
    order by id for update of d`,
}

const reseal: Record<SealPurpose, Statement<[]>> = {
  'user_group.token': sql`update user_group set token_key = $2, token_sealed = $3 where id = $1`,
  'data_source.connection': sql`update data_source set connection_key = $2, connection_sealed = $3 where id = $1`,
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
    let count = 0
    for (const purpose of sealPurposes)
      for await (const [from, to] of this.#stretches(purpose, beforeAll[purpose])) {
        const [row] = await this.#database.read(countByOthers[purpose], keyId, from, to)
        count += row?.[0] ?? 0
      }
    return count
  }

  async sealedByOthers(
    purpose: SealPurpose,
    keyId: string,
    after: number | string,
    limit: number,
  ): Promise<SealedRow[]> {
    for await (const [from, to] of this.#stretches(purpose, after)) {
      const rows = await this.#database.read(byOthers[purpose], keyId, from, to, limit)
      if (rows.length > 0)
        return rows.map(([id, teamId, keyId, bytes]) => ({ purpose, teamId, id, sealed: { keyId, bytes } }))
    }
    return []
  }

  async *#stretches(purpose: SealPurpose, after: number | string) {
    for (let from = after; ; ) {
      const [[to] = [null]] = await this.#database.read(endOfStretch[purpose], from, stretch)
      if (to === null) return
      yield [from, to] as const
      from = to
    }
  }

  reseal(rows: readonly Resealed[]): Promise<number> {
    const byPurpose = [...Map.groupBy(rows, ({ purpose }) => purpose)]
    return this.#database.write(function* () {
      let done = 0
      for (const [purpose, own] of byPurpose) done += yield* resealAll(purpose, own)
      return done
    }, 'repeatable')
  }

  retireOthers(keyId: string): Promise<string[]> {
    return this.#database.exclusively(function* () {
      return (yield* run(retire, keyId)).map(([id]) => id)
    })
  }
}

/** They are in the order of their ids. */
function* resealAll(purpose: SealPurpose, rows: readonly Resealed[]): Work<number> {
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return 0
  const there = new Map(yield* run(lockByOthers[purpose], first.fresh.keyId, first.id, last.id))
  const unchanged = rows.filter(({ id, sealed }) => {
    const bytes = there.get(id)
    return bytes !== undefined && Buffer.compare(bytes, sealed.bytes) === 0
  })
  for (const { id, fresh } of unchanged) yield* run(reseal[purpose], id, fresh.keyId, fresh.bytes)
  return unchanged.length
}
