import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allRows } from '../test/support/all-rows.ts'
import { type Canaries, sightings } from '../test/support/canaries.ts'
import { newMasterKey } from '../test/support/engines.ts'
import type { Premises } from '../test/support/premises.ts'
import { assertRefusal, failingStart } from '../test/support/refusal.ts'
import { testApiToken } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'

/** Somebody has all the database holds, and no key: no start accepts it, and no secret can be found in it. */
export async function stealDatabase(premises: Premises): Promise<void> {
  const { environment } = premises
  const secrets = await makeSecrets(premises)
  const otherKey = newMasterKey()
  const refused = failingStart({ ...environment, UGS_MASTER_KEY: otherKey })
  const found = sightings(withDigests(secrets), await bytesOf(premises))
  assert.deepEqual(found, [], 'turned up in the stolen database')
  assertRefusal(await refused, /sealed under master key [0-9a-f]{8}, which is not among/, /UGS_MASTER_KEY/, [
    environment.UGS_MASTER_KEY ?? '',
    otherKey,
  ])
}

async function makeSecrets(premises: Premises): Promise<Canaries> {
  const service = await premises.start()
  const { caller } = service
  const groups = await Promise.all(times(5, (i) => caller.getOrCreate(`stolen ${i}`)))
  const first = await caller.rotate(groups[0]?.body.user_group.token, { grace_seconds: 3600 })
  await caller.call('POST', '/api/schemas', { json: { id: 'sales', name: 'Sales' } })
  const password = 'the-password-of-a-customers-database'
  for (const name of ['one', 'two'])
    await caller.call('POST', '/api/data_sources', {
      json: { schema_id: 'sales', provided_id: name, name, connection: { password } },
    })
  await service.stop()
  const tokens = [...groups, first].map(({ body }) => body.user_group.token as string)
  return new Map<string, string | Buffer>([
    ...tokens.map((token, index) => [`token ${index}`, token] as const),
    ['API token', testApiToken],
    ['connection', password],
    ['master key', Buffer.from(premises.environment.UGS_MASTER_KEY ?? '', 'base64')],
  ])
}

/** With what anybody can work out for a secret that is guessed: whoever has that can try guesses. */
function withDigests(secrets: Canaries): Canaries {
  const all: Canaries = new Map(secrets)
  for (const [name, secret] of secrets) {
    for (const kind of ['md5', 'sha1', 'sha256', 'sha512', 'sha3-256'])
      all.set(`${kind} of ${name}`, createHash(kind).update(secret).digest())
    for (const key of ['', 'user-group-service'])
      all.set(`HMAC of ${name} with key "${key}"`, createHmac('sha256', key).update(secret).digest())
  }
  return all
}

/** The files as they lie on the disk, or all rows where the files belong to a server. */
async function bytesOf({ database, environment }: Premises): Promise<Buffer> {
  const { folder } = database
  if (folder === undefined) return Buffer.from((await allRows(environment)).join('\n'))
  return Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))))
}
