import assert from 'node:assert/strict'
import type { Caller } from '../test/support/caller.ts'
import type { TrackedGroup } from '../test/support/load.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { Environment } from '../test/support/service-process.ts'

/** What it says of something acknowledged that is gone. */
export const loss = /was acknowledged, and is lost|has lost an acknowledged token|has forgotten a former token/

/** What was acknowledged is there; what was still owed has happened whole, or not at all. */
export async function assertKept(caller: Caller, group: TrackedGroup): Promise<void> {
  const { status, body } = await caller.getOrCreate(group.id)
  assert.equal(status, 200, `${group.id}: ${JSON.stringify(body)}`)
  const { token } = body.user_group
  if (group.token !== undefined) {
    assert.equal(body.new_user_group, false, `${group.id} was acknowledged, and is lost`)
    if (!group.pending) assert.equal(token, group.token, `${group.id} has lost an acknowledged token`)
    if (token !== group.token) group.former.push(group.token)
  }
  for (const former of group.former.slice(-2)) {
    const refused = await caller.rotate(former)
    assert.equal(refused.body.error?.code, 'token_already_rotated', `${group.id} has forgotten a former token`)
  }
  // The token that is shown is also the one that is found: seal and hash were written together.
  const rotated = await caller.rotate(token)
  assert.equal(rotated.status, 200, `${group.id}: ${JSON.stringify(rotated.body)}`)
  group.former.push(token)
  group.token = rotated.body.user_group.token
  group.pending = false
}

/** Every group has the record of its creation and every former token that of its rotation, and there are no others. */
export async function assertWhole(environment: Environment): Promise<void> {
  const [found] = await rawSql(
    environment,
    `select (select count(*) from user_group) as "groups", (select count(*) from former_token) as "former tokens",
      (select count(*) from event where kind = 'user_group.created') as "creations",
      (select count(*) from event where kind = 'user_group.token_rotated') as "rotations",
      (select count(*) from event) as "events", (select sum(last) from event_position) as "event numbers"`,
  )
  const counted = JSON.stringify(found)
  assert.equal(found?.groups, found?.creations, `a change and its record are not the same transaction: ${counted}`)
  assert.equal(found?.['former tokens'], found?.rotations, `a rotation is half done: ${counted}`)
  assert.equal(String(found?.events), String(found?.['event numbers']), `the audit trail has a gap: ${counted}`)
}
