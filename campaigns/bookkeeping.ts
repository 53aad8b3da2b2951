import assert from 'node:assert/strict'
import type { Caller } from '../test/support/caller.ts'
import { eventually } from '../test/support/eventually.ts'
import { Load, type TrackedGroup } from '../test/support/load.ts'
import type { Environment } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'
import { assertConsistent, type StoredGroup } from './consistency.ts'

interface MappedGroup {
  id: string
  /** The number of the last change that was acknowledged. */
  change: number
}

export interface Snapshot {
  groups: readonly TrackedGroup[]
  mapped: readonly MappedGroup[]
}

/** Groups that are created, rotated and mapped anew without a pause, and a book of what was acknowledged when. */
export class Bookkeeping {
  readonly #load: Load
  readonly #mapped: MappedGroup[]
  readonly #mapping: Promise<void>[]
  readonly #failures: string[] = []
  #ending = false

  constructor(caller: Caller) {
    this.#load = new Load(caller, 'group')
    this.#mapped = times(2, (index) => ({ id: `mapped-${index}`, change: -1 }))
    this.#mapping = this.#mapped.map((group) => this.#mapAnew(caller, group))
  }

  /** Waits until so many more changes of each kind were acknowledged. */
  async more(changes: number): Promise<void> {
    const counts = () => [this.#load.acknowledged, ...this.#mapped.map(({ change }) => change)]
    const before = counts()
    await eventually('the load runs', () => counts().every((count, at) => count >= (before[at] ?? 0) + changes))
  }

  /** What must be in every backup that begins now. */
  snapshot(): Snapshot {
    const groups = this.#load.groups.filter(({ token }) => token !== undefined)
    return structuredClone({ groups, mapped: this.#mapped })
  }

  async end(): Promise<void> {
    this.#ending = true
    await Promise.all([this.#load.end(), ...this.#mapping])
    assert.deepEqual([...this.#load.failures, ...this.#failures], [], 'requests failed meanwhile')
  }

  /** Nothing of the snapshot is missing from a restored database, and all in it fits together. */
  async assertRestored(environment: Environment, { groups, mapped }: Snapshot): Promise<number> {
    const restored = await assertConsistent(environment)
    for (const { id } of [...groups, ...mapped]) assert.ok(restored.has(id), `${id} is missing from the backup`)
    for (const { id, change } of mapped) {
      const { mapping, properties } = restored.get(id) as StoredGroup
      assert.ok(Number(properties.change) >= change, `a change of ${id} is missing from the backup`)
      assert.deepEqual(mapping, mappingAt(Number(properties.change)), `${id} is half of one change, half of another`)
    }
    for (const group of groups)
      await eventually(`the token of ${group.id} in the backup is one it has had`, () =>
        this.#tokensSince(group).includes(restored.get(group.id)?.token),
      )
    return restored.size
  }

  #tokensSince({ id, token, former }: TrackedGroup): (string | undefined)[] {
    const now = this.#load.groups.find((group) => group.id === id)
    return [token, ...(now?.former ?? []).slice(former.length), now?.token]
  }

  async #mapAnew(caller: Caller, group: MappedGroup): Promise<void> {
    const path = `/api/user_groups/${group.id}`
    try {
      for (let change = 0; !this.#ending; change++) {
        const json = { mapping: mappingAt(change), properties: { change } }
        const isNew = change === 0
        const answer = await (isNew ? caller.getOrCreate(group.id, json) : caller.call('PATCH', path, { json }))
        if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
        group.change = change
      }
    } catch (error) {
      this.#failures.push(`${group.id}: ${(error as Error).message}`)
    }
  }
}

function mappingAt(change: number): Record<string, string> {
  return Object.fromEntries(times((change % 5) + 1, (index) => [`schema ${index}`, `source ${change}`]))
}
