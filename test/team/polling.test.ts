import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { type CalledService, Premises } from '../support/premises.ts'
import { times } from '../support/times.ts'
import { type AuditEvent, Team } from './team.ts'

const processes = 3
const writersEach = 3
const groupsEach = 6

for (const engine of engines)
  describe(`reading the audit trail while ${processes} processes write it, on ${engine.name}`, () => {
    let premises: Premises
    let teams: Team[]
    before(async () => {
      premises = await Premises.open(undefined, engine)
      const services: CalledService[] = await premises.startAtOnce(processes)
      teams = services.map(({ caller }) => new Team(caller))
    })
    after(() => premises.close())

    it('misses nothing, repeats nothing and finds every change behind the last: on each process, at every pace', async () => {
      let writing = true
      const readers = Promise.all([
        ...teams.map((team, i) => readWhile(() => writing, team, [200, 1, 7][i] ?? 200)),
        readWhile(() => writing, teams[0] as Team, 50),
      ])
      const writers = teams.flatMap((team, i) => times(writersEach, (j) => write(team, `${i} ${j}`)))
      const expected = (
        await Promise.all(writers).finally(() => {
          writing = false
        })
      ).flat()
      const read = await readers

      const complete = await (teams[0] as Team).trail()
      const ids = complete.map(({ id }) => id)
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => a - b),
      )
      assert.equal(new Set(ids).size, ids.length)
      for (const [i, seen] of read.entries())
        assert.deepEqual(
          seen.filter(({ kind }) => kind.startsWith('user_group.')).map(({ id }) => id),
          complete.filter(({ kind }) => kind.startsWith('user_group.')).map(({ id }) => id),
          `reader ${i} read what is there, in the order that stays`,
        )
      const told = complete
        .filter(({ kind }) => kind.startsWith('user_group.'))
        .map(({ kind, user_group }) => `${kind} ${user_group}`)
      assert.deepEqual(told.toSorted(), expected.toSorted(), 'each change is told once')
    })

    it('finds a change as soon as it is acknowledged, on another process', async () => {
      const last = (await (teams[0] as Team).trail()).at(-1)?.id ?? 0
      let seen = last
      for (let i = 0; i < 40; i++) {
        const [writer, reader] = [teams[i % processes] as Team, teams[(i + 1) % processes] as Team]
        await writer.newGroup(`at once ${i}`)
        const { body } = await reader.events({ after: seen })
        assert.deepEqual(
          body.events.map(({ user_group }: AuditEvent) => user_group),
          [`at once ${i}`],
        )
        seen = body.events[0].id
      }
    })
  })

/** A reader as one would write it: asks for what is behind the last event it knows, again and again. */
async function readWhile(goOn: () => boolean, team: Team, limit: number): Promise<AuditEvent[]> {
  const seen: AuditEvent[] = []
  let after = 0
  for (let isLast = false; ; isLast = !goOn()) {
    const { status, body } = await team.events({ after, limit })
    assert.equal(status, 200, JSON.stringify(body))
    seen.push(...body.events)
    if (body.events.length === 0 && isLast) return seen
    after = body.events.at(-1)?.id ?? after
  }
}

/** Creates, changes, rotates and deletes groups, and tells which events there must be. */
async function write(team: Team, name: string): Promise<string[]> {
  const told: string[] = []
  for (const id of times(groupsEach, (i) => `${name} ${i}`)) {
    const { token } = await team.newGroup(id)
    const answers = [await team.rotate(token), await team.change(id, { name: 'x' }), await team.remove(id)]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    told.push(...['created', 'token_rotated', 'updated', 'deleted'].map((kind) => `user_group.${kind} ${id}`))
  }
  return told
}
