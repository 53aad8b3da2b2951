import { ServiceError } from '../errors.ts'
import type { ImportedUserGroup, Mapping } from '../user-groups/user-group.ts'
import { fragment, type TeamDatabase, type Work } from './database.ts'
import { type Actor, record, waitForStandby } from './events.ts'
import { manyRows, runMany } from './many-rows.ts'
import { addManyEntries, mappingRefusals } from './mappings.ts'
import type { ImportOutcome, ImportWish } from './store.ts'
import { everyToken } from './user-group-statements.ts'

const insertUnlessThere = manyRows<[id: number]>(
  `insert into user_group (id, team_id, provided_id, name, token_hash, token_sealed, token_key, disabled, created_at,
    updated_at, mapping, properties) values`,
  '(?, $1, ?, ?, ?, ?, ?, ?, $2, $2, ?, ?)',
  'on conflict do nothing returning id',
)
const idsThere = manyRows<[providedId: string]>(
  'select provided_id from user_group where team_id = $1 and provided_id in (',
  '?',
  ')',
)
const hashesThere = manyRows<[providedId: string, id: number, hash: Uint8Array]>(
  'select provided_id, id, token_hash from user_group where team_id = $1 and provided_id in (',
  '?',
  ')',
)
const sealsThere = manyRows<[providedId: string, seal: Uint8Array]>(
  'select provided_id, token_sealed from user_group where team_id = $1 and provided_id in (',
  '?',
  ')',
)
const remove = manyRows('delete from user_group where team_id = $1 and id in (', '?', ')')
// These look beyond the team: a token has one owner at most, whoever that is.
const owners = manyRows<[hash: Uint8Array, groupId: number]>(
  fragment`select hash, user_group_id from ${everyToken} where hash in (`,
  '?',
  ')',
)
const groupsOf = manyRows<[id: number]>('select id from user_group where id in (', '?', ')')
const apiTokens = manyRows<[hash: Uint8Array]>('select hash from api_token where hash in (', '?', ')')

interface Candidate extends ImportWish {
  group: ImportedUserGroup
}

/** One transaction for all of them; each is created whole, was there already, or is refused. */
export async function importUserGroups(
  database: TeamDatabase,
  actor: Actor,
  wishes: readonly ImportWish[],
  now: number,
): Promise<ImportOutcome[]> {
  const outcomes = await importNew(database, actor, wishes, now)
  const toCompare = wishes.filter(({ brought }, index) => brought && outcomes[index] === 'already_there')
  if (toCompare.length === 0) return outcomes
  const rows = await database.look(() => runMany(hashesThere, [actor.teamId], providedIds(toCompare)))
  const there = new Map(rows.map(([providedId, id, hash]) => [providedId, { id, hash: text(hash) }]))
  const disagrees = ({ providedId, brought }: ImportWish) => {
    const group = there.get(providedId)
    if (brought === undefined || group === undefined) return false
    const isFromHere = brought.groupId === group.id && text(brought.hash) === group.hash
    return !isFromHere && text(brought.longHash()) !== group.hash
  }
  return wishes.map((wish, index) => {
    const outcome = outcomes[index] as ImportOutcome
    return outcome === 'already_there' && disagrees(wish) ? thereWithAnother() : outcome
  })
}

async function importNew(
  database: TeamDatabase,
  actor: Actor,
  wishes: readonly ImportWish[],
  now: number,
): Promise<ImportOutcome[]> {
  // An import that is run again finds most of them: those cost no seal and no transaction.
  const rows = await database.look(() => runMany(idsThere, [actor.teamId], providedIds(wishes)))
  const there = new Set(rows.map(([providedId]) => providedId))
  const candidates = new Map<ImportWish, Candidate>()
  for (const wish of wishes) if (!there.has(wish.providedId)) candidates.set(wish, { ...wish, group: wish.make() })
  if (candidates.size === 0) return wishes.map(() => 'already_there')
  const outcomes = await storeNew(database, actor, [...candidates.values()], now)
  return wishes.map((wish) => {
    const candidate = candidates.get(wish)
    return (candidate && outcomes.get(candidate)) ?? 'already_there'
  })
}

async function storeNew(
  database: TeamDatabase,
  actor: Actor,
  candidates: readonly Candidate[],
  now: number,
): Promise<ReadonlyMap<Candidate, ImportOutcome>> {
  for (;;)
    try {
      return await tryToStore(database, actor, candidates, now)
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error
    }
}

/** A data source that the mappings lead to was deleted between the two looks for it. */
class Overtaken extends Error {}

function tryToStore(
  database: TeamDatabase,
  actor: Actor,
  candidates: readonly Candidate[],
  now: number,
): Promise<ReadonlyMap<Candidate, ImportOutcome>> {
  const { teamId } = actor
  return database.write(function* () {
    const decided = new Map<Candidate, ImportOutcome>()
    const unmapped = yield* mappingRefusals(teamId, mappingsOf(candidates.map(({ group }) => group)), 'for now')
    const refusals = new Map(candidates.map((candidate, index) => [candidate, unmapped[index]]))
    refuseInOrder(candidates, refusals, decided)
    const created: ImportedUserGroup[] = []
    const undecided = () => candidates.filter((candidate) => !decided.has(candidate))
    for (let open = undecided(); open.length > 0; open = undecided()) {
      const attempted = independent(open.filter((candidate) => refusals.get(candidate) === undefined))
      for (const [candidate, outcome] of yield* insert(teamId, attempted, now)) {
        decided.set(candidate, outcome)
        if (outcome === 'created') created.push(candidate.group)
      }
      const rest = open.filter((candidate) => !decided.has(candidate))
      yield* explain(teamId, rest, refusals, decided)
      // What nothing speaks against was tried with an id that is taken, or its obstacle is gone since.
      for (const candidate of attempted) if (!decided.has(candidate)) candidate.group = candidate.make()
    }
    // Those that count as created may be of an earlier run.
    if (created.length === 0) yield* waitForStandby(teamId)
    const lasting = yield* mappingRefusals(teamId, mappingsOf(created), 'to the commit')
    if (lasting.some((refusal) => refusal !== undefined)) throw new Overtaken()
    created.sort((one, other) => one.id - other.id)
    yield* addManyEntries(teamId, created)
    for (const { providedId, disabled } of created)
      yield* record(actor, 'user_group.created', providedId, now, disabled ? { disabled } : null)
    return decided
  }, 'repeatable')
}

function mappingsOf(groups: readonly ImportedUserGroup[]): Mapping[] {
  return groups.map(({ mapping }) => mapping)
}

function providedIds(wishes: readonly ImportWish[]): string[][] {
  return wishes.map(({ providedId }) => [providedId])
}

function* insert(teamId: number, candidates: readonly Candidate[], now: number): Work<Map<Candidate, ImportOutcome>> {
  // In one order everywhere, so that two imports of the same groups wait for each other instead of deadlocking.
  const sorted = candidates.toSorted(byProvidedId)
  const rows = sorted.map(({ group: { id, providedId, name, token, disabled, mapping, properties } }) => {
    const { hash, bytes, keyId } = token
    return [id, providedId, name, hash, bytes, keyId, Number(disabled), JSON.stringify(mapping), properties]
  })
  const ids = new Set((yield* runMany(insertUnlessThere, [teamId, now], rows)).map(([id]) => id))
  const inserted = sorted.filter(({ group }) => ids.has(group.id))
  // Looked for after the insert: until then, somebody else's token may have come, or gone.
  const isTaken = yield* takenTokens(inserted)
  yield* runMany(
    remove,
    [teamId],
    inserted.filter(isTaken).map(({ group }) => [group.id]),
  )
  return new Map(inserted.map((each) => [each, isTaken(each) ? tokenTaken() : 'created']))
}

/** Any order will do that is the same everywhere. */
function byProvidedId(one: Candidate, other: Candidate): number {
  if (one.providedId === other.providedId) return 0
  return one.providedId < other.providedId ? -1 : 1
}

/** Those that share neither id nor token with one before them: of two that do, the first is decided first. */
function independent(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return candidates.filter((candidate) => {
    const before = seen.size
    seen.add(`id ${candidate.providedId}`).add(`token ${hashOf(candidate)}`)
    return seen.size === before + 2
  })
}

/** A line with a bad mapping is refused, unless one before it may make the group: then it asks for what is there. */
function refuseInOrder(
  candidates: readonly Candidate[],
  refusals: ReadonlyMap<Candidate, ServiceError | undefined>,
  decided: Map<Candidate, ImportOutcome>,
): void {
  const mayExist = new Set<string>()
  for (const candidate of candidates) {
    const refusal = refusals.get(candidate)
    if (refusal === undefined) mayExist.add(candidate.providedId)
    else if (!mayExist.has(candidate.providedId)) decided.set(candidate, refusal)
  }
}

/** Decides those for which there is a reason not to be inserted. */
function* explain(
  teamId: number,
  rest: readonly Candidate[],
  refusals: ReadonlyMap<Candidate, ServiceError | undefined>,
  decided: Map<Candidate, ImportOutcome>,
): Work<void> {
  const there = new Map(yield* runMany(sealsThere, [teamId], providedIds(rest)))
  const hasTakenToken = yield* takenTokens(rest)
  const waiting = new Set<string>()
  for (const candidate of rest) {
    const { providedId, group } = candidate
    const seal = there.get(providedId)
    const refusal = refusals.get(candidate) ?? (hasTakenToken(candidate) ? tokenTaken() : undefined)
    // With our own seal it is our own commit, whose answer was lost; another process may have made the same id.
    if (seal !== undefined) {
      const isOurs = Buffer.compare(seal, group.token.bytes) === 0
      decided.set(candidate, isOurs ? 'created' : 'already_there')
    }
    // One before it may still create the group: then it is not refused, but there already.
    else if (refusal !== undefined && !waiting.has(providedId)) decided.set(candidate, refusal)
    else waiting.add(providedId)
  }
}

/** Of those that come along, the ones that are, or were, somebody else's: of a user group, or an API token. */
function* takenTokens(candidates: readonly Candidate[]): Work<(candidate: Candidate) => boolean> {
  const bringing = candidates.filter(({ brought }) => brought !== undefined)
  const leads = bringing.flatMap(groupsLedTo).map((id) => [id])
  const led = new Set((yield* runMany(groupsOf, [], leads)).map(([id]) => id))
  const hashes = bringing.map(({ group }) => [group.token.hash])
  const ownersOf = Map.groupBy(yield* runMany(owners, [], hashes), ([hash]) => text(hash))
  const ofCallers = new Set((yield* runMany(apiTokens, [], hashes)).map(([hash]) => text(hash)))
  return (candidate) => {
    const hash = hashOf(candidate)
    if (ofCallers.has(hash) || groupsLedTo(candidate).some((id) => led.has(id))) return true
    return (ownersOf.get(hash) ?? []).some(([, groupId]) => groupId !== candidate.group.id)
  }
}

/** By a token that comes along: the group that it was made for, which is another one. */
function groupsLedTo({ brought }: Candidate): number[] {
  return brought?.groupId == null ? [] : [brought.groupId]
}

function hashOf({ group }: Candidate): string {
  return text(group.token.hash)
}

function text(hash: Uint8Array): string {
  return Buffer.from(hash).toString('latin1')
}

/** Says nothing of the owner, who may be another team. */
function tokenTaken(): ServiceError {
  return new ServiceError('conflict', {
    field: 'token',
    message: 'token is not free: it is, or was, a token of somebody else; leave it out to have one made',
  })
}

function thereWithAnother(): ServiceError {
  return new ServiceError('conflict', {
    field: 'token',
    message: 'the user group is there already, with another token; it was left as it is',
  })
}
