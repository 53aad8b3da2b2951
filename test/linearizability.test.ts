import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Answer, type Call, type Group, groupModel } from '../campaigns/group-model.ts'
import { firstUnexplained, type History, isLinearizable, type Operation } from '../campaigns/linearizability.ts'
import { seeded } from '../campaigns/random.ts'

type GroupHistory = History<Call, Answer>

/** `0-3 rotate a → replaced b`: from when to when, what was asked, what came back; `0- get` was never answered. */
function history(...lines: string[]): GroupHistory {
  return lines.map((line) => {
    const [, sent, answered, does, token, says, given] =
      /^(\d+)-(\d*) (\w+)(?: (\w))?(?: → (\w+)(?: (\w))?)?$/.exec(line) ?? assert.fail(line)
    return {
      call: { does, token } as Call,
      sent: Number(sent),
      answer: says === undefined ? undefined : ({ says, token: given } as Answer),
      answered: answered === '' ? Number.POSITIVE_INFINITY : Number(answered),
    }
  })
}

const explained = {
  'calls one after the other': ['0-1 get → created a', '2-3 rotate a → replaced b', '4-5 verify a → rotated'],
  'a read during a rotation, before it': ['0-1 get → created a', '2-5 rotate a → replaced b', '3-4 get → found a'],
  'a read during a rotation, behind it': ['0-1 get → created a', '2-5 rotate a → replaced b', '3-4 get → found b'],
  'a lost rotation that happened': ['0-1 get → created a', '2- rotate a', '3-4 get → found b'],
  'a lost rotation that did not happen': ['0-1 get → created a', '2- rotate a', '3-4 get → found a'],
  'a lost rotation that happened late': [
    '0-1 get → created a',
    '2- rotate a',
    '3-4 get → found a',
    '5-6 get → found b',
  ],
  'a lost creation': ['0- get', '1-2 get → found a', '3-4 verify a → active'],
  'a group made anew': ['0-1 get → created a', '2-3 delete → done', '4-5 get → created b', '6-7 verify a → unknown'],
  'a refusal during a deletion': ['0-1 get → created a', '2-5 delete → done', '3-4 rotate a → token_not_found'],
  'changes in one order': ['0-1 get → created a', '2-9 disable → done', '3-8 enable → done', '10-11 verify a → active'],
  'changes in the other order, seen later': [
    '0-1 get → created a',
    '2-9 disable → done',
    '3-8 enable → done',
    '10-11 rotate a → replaced b',
    '12-13 verify b → disabled',
  ],
}

const unexplained = {
  'a stale look-up': ['0-1 get → created a', '2-3 rotate a → replaced b', '4-5 get → found a'],
  'a stale verdict': ['0-1 get → created a', '2-3 disable → done', '4-5 verify a → active'],
  'a read that goes back': [
    '0-1 get → created a',
    '2-9 rotate a → replaced b',
    '3-4 get → found b',
    '5-6 get → found a',
  ],
  'two winners': ['0-1 get → created a', '2-5 rotate a → replaced b', '3-4 rotate a → replaced c'],
  'two creators': ['0-3 get → created a', '1-2 get → created b'],
  'a rotation undone': ['0-1 get → created a', '2-3 rotate a → replaced b', '4-5 verify b → unknown'],
  'one lost rotation seen twice': ['0-1 get → created a', '2- rotate a', '3-4 get → found b', '5-6 get → found c'],
  'a lost call before it was sent': ['0-1 get → created a', '2-3 get → found b', '4- rotate a'],
  'a token twice': ['0-1 get → created a', '2-3 delete → done', '4-5 get → created a'],
  'a refusal for no reason': ['0-1 get → created a', '2-5 delete → done', '3-4 rotate a → token_already_rotated'],
}

describe('the search for an order that explains every answer', () => {
  for (const [name, lines] of Object.entries(explained))
    it(`finds one for ${name}`, () => {
      assert.equal(isLinearizable(history(...lines), groupModel), true)
      assert.equal(firstUnexplained(history(...lines), groupModel), undefined)
    })

  for (const [name, lines] of Object.entries(unexplained))
    it(`finds none for ${name}`, () => {
      assert.equal(isLinearizable(history(...lines), groupModel), false)
      assert.notEqual(firstUnexplained(history(...lines), groupModel), undefined)
    })

  it('agrees with trying every order, on thousands of short histories of both kinds', () => {
    const random = seeded(20_261)
    const found = { true: 0, false: 0 }
    for (let round = 0; round < 4_000; round++) {
      const model = { ...groupModel, initial: pick(beginnings, random) }
      const history = spoilt(playedHistory(model.initial, random), random)
      const expected = orders(history).some((order) => explains(order, model.initial))
      assert.equal(isLinearizable(history, model), expected, JSON.stringify({ model, history }, null, 1))
      found[`${expected}`] += 1
    }
    assert.ok(found.true > 1_000 && found.false > 1_000, JSON.stringify(found))
  })
})

const beginnings: Group[] = [groupModel.initial, { ...groupModel.initial, token: 'a' }]
const alphabet = ['a', 'b', 'c', 'd']
const calls: Call[] = [
  ...(['get', 'disable', 'enable', 'delete'] as const).map((does) => ({ does })),
  ...['a', 'a', 'b'].flatMap((token) => (['rotate', 'verify'] as const).map((does) => ({ does, token }))),
]
const answers: Record<Call['does'], Answer[]> = {
  get: alphabet.flatMap((token) => (['created', 'found'] as const).map((says) => ({ says, token }))),
  rotate: [
    ...alphabet.map((token) => ({ says: 'replaced' as const, token })),
    { says: 'token_already_rotated' },
    { says: 'token_not_found' },
  ],
  verify: (['active', 'disabled', 'rotated', 'unknown'] as const).map((says) => ({ says })),
  disable: [{ says: 'done' }, { says: 'user_group_not_found' }],
  enable: [{ says: 'done' }, { says: 'user_group_not_found' }],
  delete: [{ says: 'done' }, { says: 'user_group_not_found' }],
}

/** Up to six calls that overlap at random, each answered as in one certain order, a few of the answers lost. */
function playedHistory(beginning: Group, random: () => number): GroupHistory {
  let group = beginning
  const played: Operation<Call, Answer>[] = []
  const count = 2 + Math.floor(random() * 5)
  for (let at = 0; at < count; at++) {
    const call = pick(calls, random)
    const isLost = random() < 0.15
    const fitting = answers[call.does].filter((answer) => groupModel.step(group, call, answer) !== undefined)
    const answer = isLost || fitting.length === 0 ? undefined : pick(fitting, random)
    group = groupModel.step(group, call, answer) ?? group
    const sent = at - random() ** 2 * 3
    played.push({
      call,
      sent,
      answer,
      answered: answer === undefined ? Number.POSITIVE_INFINITY : at + random() ** 2 * 3,
    })
  }
  return played
}

/** Every other one with a wrong answer, or what may be one. */
function spoilt(played: GroupHistory, random: () => number): GroupHistory {
  if (random() < 0.5) return played
  const victim = pick(played, random)
  return played.map((operation) =>
    operation === victim && operation.answer
      ? { ...operation, answer: pick(answers[operation.call.does], random) }
      : operation,
  )
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T
}

/** Every order of everything that was answered and of any part of what was not. */
function orders(played: GroupHistory): GroupHistory[] {
  if (played.length === 0) return [[]]
  const withFirst = played.flatMap((first) =>
    orders(played.filter((other) => other !== first)).map((rest) => [first, ...rest]),
  )
  return played.every(({ answer }) => answer === undefined) ? [[], ...withFirst] : withFirst
}

function explains(order: GroupHistory, beginning: Group): boolean {
  const respectsTime = order.every((operation, at) =>
    order.slice(at + 1).every((later) => later.answered > operation.sent),
  )
  if (!respectsTime) return false
  let group: Group | undefined = beginning
  for (const { call, answer } of order) group = group && groupModel.step(group, call, answer)
  return group !== undefined
}
