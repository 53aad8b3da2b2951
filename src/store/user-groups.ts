import { ServiceError } from '../errors.ts'
import { parseJson } from '../json.ts'
import { after, type Soon } from '../soon.ts'
import type { SealedToken, TokenKey } from '../tokens/tokens.ts'
import type {
  Mapping,
  NewUserGroup,
  Properties,
  UserGroup,
  UserGroupChange,
  UserGroupRecord,
  Verified,
} from '../user-groups/user-group.ts'
import type { DataSourceRow } from './data-source-row.ts'
import { run, type Statement, type TeamDatabase, UniqueViolation, type Value, type Work } from './database.ts'
import { type Actor, fieldsOf, record, waitForStandby } from './events.ts'
import { addEntries, replaceEntries, resolved } from './mappings.ts'
import { ownTurn } from './own-turn.ts'
import type {
  ImportOutcome,
  ImportWish,
  ListQuery,
  Page,
  PageQuery,
  TokenReplacement,
  UserGroups,
  UserGroupWithToken,
} from './store.ts'
import { countUserGroups, listWithTokens } from './user-group-export.ts'
import { importUserGroups } from './user-group-import.ts'
import { listUserGroups, userGroupRecord } from './user-group-list.ts'
import * as statements from './user-group-statements.ts'

export class UserGroupStore implements UserGroups {
  readonly #database: TeamDatabase
  readonly #actor: Actor

  constructor(database: TeamDatabase, actor: Actor) {
    this.#database = database
    this.#actor = actor
  }

  find(providedId: string): Promise<UserGroup | undefined> {
    const rows = this.#database.read(statements.byProvidedId, this.#actor.teamId, providedId)
    return rows.then(([row]) => row && this.#userGroup(providedId, row))
  }

  async getOrCreate(make: () => NewUserGroup, now: number): Promise<{ group: UserGroup; created: boolean }> {
    const creation: Creation = { actor: this.#actor, make, wish: make(), now }
    const order = `${this.#actor.teamId} ${creation.wish.providedId}`
    const row = await this.#database.writeTogether(order, () => getOrCreate(creation))
    // The seal is ours alone; another process may have made the same id.
    const created = isSeal(row[3], creation.wish.token)
    return { group: this.#userGroup(creation.wish.providedId, row), created }
  }

  async replaceToken(current: TokenKey, replacement: TokenReplacement, now: number): Promise<UserGroup> {
    const rotation: Rotation = { actor: this.#actor, current, replacement, fresh: undefined, now }
    const order = `${this.#actor.teamId} ${Buffer.from(current.hash).toString('hex')}`
    return this.#userGroup(...(await this.#database.writeTogether(order, () => replaceToken(rotation))))
  }

  verify(token: TokenKey): Promise<Verified | undefined> {
    const values = [this.#actor.teamId, token.groupId, token.hash]
    return this.#database.read(statements.verifyCurrent, ...values).then(([row]) => {
      return row ? this.#verified(token, row, statements.verifyMappedCurrent, values) : this.#verifyOther(token)
    })
  }

  async #verifyOther(token: TokenKey): Promise<Verified | undefined> {
    const values = [this.#actor.teamId, token.groupId, token.longHash(), token.hash]
    const [row] = await this.#database.read(statements.verifyOther, ...values)
    return row && this.#verified(token, row, statements.verifyMappedOther, values)
  }

  #verified(
    token: TokenKey,
    row: statements.VerifiedRow,
    withSources: Statement<statements.MappedRow>,
    values: readonly Value[],
  ): Soon<Verified | undefined> {
    const { teamId } = this.#actor
    if (row[3] === '{}') return after(ownTurn(row[3], row[4]), () => verified(teamId, row, []))
    return this.#database.read(withSources, ...values).then((rows) => {
      const group = rows.find(([providedId]) => providedId !== null) as statements.VerifiedRow | undefined
      const sources = rows.filter(([, , , , , , id]) => id !== null).map((row) => row.slice(6) as DataSourceRow)
      // It may have been rotated meanwhile.
      if (group === undefined) return this.verify(token)
      return after(ownTurn(group[3], group[4]), () => verified(teamId, group, sources))
    })
  }

  async get(providedId: string): Promise<UserGroupRecord | undefined> {
    const [row] = await this.#database.read(statements.recordByProvidedId, this.#actor.teamId, providedId)
    return row && this.#record(row)
  }

  list(query: ListQuery): Promise<Page<UserGroupRecord>> {
    return listUserGroups(this.#database, this.#actor.teamId, query)
  }

  async update(providedId: string, change: UserGroupChange, now: number): Promise<UserGroupRecord | undefined> {
    const actor = this.#actor
    const { teamId } = actor
    const mapping = change.mapping === undefined ? null : JSON.stringify(change.mapping)
    const disabled = change.disabled === undefined ? null : Number(change.disabled)
    const row = await this.#database
      .write(function* () {
        if (change.providedId !== undefined) yield* refuseTaken(teamId, providedId, change.providedId)
        const [updated] = yield* run(
          statements.updateRecord,
          ...[teamId, providedId, change.providedId ?? null, change.name ?? null, mapping, change.properties ?? null],
          ...[disabled, now],
        )
        if (updated === undefined) return undefined
        if (change.mapping !== undefined) yield* replaceEntries(teamId, updated[0], change.mapping)
        const renamedTo = change.providedId === providedId ? undefined : change.providedId
        const detail = { fields: fieldsOf(change), ...(disabled !== null && { disabled: disabled === 1 }) }
        yield* record(actor, 'user_group.updated', providedId, now, detail, renamedTo)
        return updated
      }, 'once')
      .catch((error: unknown) => {
        throw error instanceof UniqueViolation ? idTaken() : error
      })
    return row && this.#record(row)
  }

  delete(providedId: string, now: number): Promise<boolean> {
    const actor = this.#actor
    return this.#database.write(function* () {
      const [deleted] = yield* run(statements.deleteGroup, actor.teamId, providedId)
      if (deleted === undefined) return false
      yield* run(statements.forgetFormer, ...deleted)
      yield* record(actor, 'user_group.deleted', providedId, now)
      return true
    }, 'once')
  }

  importBatch(wishes: readonly ImportWish[], now: number): Promise<ImportOutcome[]> {
    return importUserGroups(this.#database, this.#actor, wishes, now)
  }

  count(): Promise<number> {
    return countUserGroups(this.#database, this.#actor.teamId)
  }

  listWithTokens(query: PageQuery<number>): Promise<Page<UserGroupWithToken>> {
    return listWithTokens(this.#database, this.#actor.teamId, query)
  }

  async #record(row: statements.RecordRow): Promise<UserGroupRecord> {
    await ownTurn(row[3], row[4])
    return userGroupRecord(this.#actor.teamId, row)
  }

  #userGroup(providedId: string, [id, name, keyId, sealed]: statements.UserGroupRow): UserGroup {
    // One engine gives a Buffer, the other does not.
    const bytes = new Uint8Array(sealed.buffer, sealed.byteOffset, sealed.length)
    return { id, teamId: this.#actor.teamId, providedId, name, token: { keyId, bytes } }
  }
}

/** What is kept between the runs of work that is repeated. */
interface Creation {
  readonly actor: Actor
  readonly make: () => NewUserGroup
  wish: NewUserGroup
  readonly now: number
}

interface Rotation {
  readonly actor: Actor
  current: TokenKey
  readonly replacement: TokenReplacement
  fresh: SealedToken | undefined
  readonly now: number
}

type Rotated = [providedId: string, row: statements.UserGroupRow]

// No closures, as rarer work is: for each that is a generator V8 makes a hidden class, which keeps all that the closure sees
// until the whole heap is collected. It cost a twentieth of a rotation.

function* getOrCreate(creation: Creation): Work<statements.UserGroupRow> {
  const { actor, make, now } = creation
  for (;;) {
    const { id, providedId, name, token, mapping, properties } = creation.wish
    const [added] = yield* run(
      statements.insertUnlessThere,
      ...[id, actor.teamId, providedId, name, token.hash, token.bytes, token.keyId, now],
      ...[JSON.stringify(mapping), properties],
    )
    if (added !== undefined) {
      yield* addEntries(actor.teamId, id, mapping)
      yield* record(actor, 'user_group.created', providedId, now)
      return [id, name, token.keyId, token.bytes]
    }
    const [there] = yield* run(statements.byProvidedId, actor.teamId, providedId)
    if (there !== undefined) {
      if (isSeal(there[3], token)) yield* waitForStandby(actor.teamId)
      return there
    }
    // Neither added nor found: another group has the id we made, or this one was deleted in between.
    creation.wish = make()
  }
}

function* replaceToken(rotation: Rotation): Work<Rotated> {
  const { actor, current, replacement, now } = rotation
  const { graceSeconds } = replacement
  const [owner] = yield* run(statements.ownerOfToken, actor.teamId, current.groupId, current.hash)
  if (owner === undefined) return yield* replaceOther(rotation)
  const [groupId, providedId, name, issuedAt, hasGrace] = owner
  rotation.fresh ??= replacement.seal(groupId)
  const { hash, bytes, keyId } = rotation.fresh
  yield* run(statements.replaceToken, groupId, actor.teamId, hash, bytes, keyId, now)
  if (hasGrace === 1 && graceSeconds === 0) yield* run(statements.endFormer, groupId)
  yield* run(statements.rememberFormer, current.hash, groupId, issuedAt, now, now + graceSeconds * 1000)
  const detail = graceSeconds > 0 ? { grace_seconds: graceSeconds } : null
  yield* record(actor, 'user_group.token_rotated', providedId, now, detail)
  return [providedId, [groupId, name, keyId, bytes]]
}

/** For a token that was brought to its group, and for what this rotation committed before, if its answer was lost. */
function* replaceOther(rotation: Rotation): Work<Rotated> {
  const { actor, current, fresh } = rotation
  const longHash = current.longHash()
  const [other] = yield* run(statements.otherOwner, actor.teamId, current.groupId, longHash)
  if (other === undefined) throw new ServiceError('token_not_found')
  const [isBrought, providedId, ...row] = other
  if (isBrought === 1) {
    rotation.current = { ...current, groupId: null, hash: longHash }
    return yield* replaceToken(rotation)
  }
  if (fresh === undefined || !isSeal(row[3], fresh)) throw new ServiceError('token_already_rotated')
  yield* waitForStandby(actor.teamId)
  return [providedId, row]
}

function isSeal(bytes: Uint8Array, sealed: SealedToken): boolean {
  return Buffer.compare(bytes, sealed.bytes) === 0
}

function verified(
  teamId: number,
  [providedId, name, disabled, mappingJson, propertiesJson, validUntil]: statements.VerifiedRow,
  sources: readonly DataSourceRow[],
): Verified {
  const mapping = parseJson(mappingJson) as Mapping
  const properties = parseJson(propertiesJson) as Properties
  const group = { teamId, providedId, name, mapping, properties, disabled: disabled === 1 }
  return { group, validUntil, dataSources: resolved(mapping, sources) }
}

/**
 * The unique key decides, but who waits there for the group that has the id keeps the renamed one locked: two that take
 * each other's would find out after a second only, when PostgreSQL looks for deadlocks.
 */
function* refuseTaken(teamId: number, from: string, to: string): Work<void> {
  const there = yield* run(statements.eitherProvidedId, teamId, from, to)
  if (there.length === 2) throw idTaken()
}

function idTaken(): ServiceError {
  return new ServiceError('conflict', {
    field: 'provided_id',
    message: 'This team has a user group with that provided_id already.',
  })
}
