import type { Answer, Caller } from './caller.ts'

/** A user group as its one owner knows it: what was acknowledged, and whether an answer is still owed. */
export interface TrackedGroup {
  id: string
  /** The last token that was acknowledged. */
  token: string | undefined
  former: string[]
  pending: boolean
}

/** Clients that create and rotate without a pause, and keep book of every acknowledgement. */
export class Load {
  readonly groups: TrackedGroup[]
  readonly failures: string[] = []
  acknowledged = 0
  readonly #caller: Caller
  readonly #clients: Promise<void>[]
  #ending = false

  /** `adopted` are groups that are there already, shared out among the clients. */
  constructor(caller: Caller, name: string, adopted: readonly TrackedGroup[] = [], clients = 8) {
    this.#caller = caller
    this.groups = [...adopted]
    this.#clients = Array.from({ length: clients }, (_, client) =>
      this.#work(
        `${name} ${client}`,
        adopted.filter((_group, index) => index % clients === client),
      ),
    )
  }

  /** Lets every client finish the call it is in. */
  async end(): Promise<void> {
    this.#ending = true
    await Promise.all(this.#clients)
  }

  async #work(name: string, own: TrackedGroup[]): Promise<void> {
    for (let turn = 0; !this.#ending; turn++) {
      // Two rotations for a new group, so that each group has a few tokens behind it.
      const known = turn % 3 === 0 ? undefined : own[turn % own.length]
      const group = known ?? { id: `${name} ${own.length}`, token: undefined, former: [], pending: false }
      if (known === undefined) {
        own.push(group)
        this.groups.push(group)
      }
      group.pending = true
      try {
        const answer = await this.#call(group)
        if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
        if (group.token !== undefined) group.former.push(group.token)
        group.token = answer.body.user_group.token as string
        group.pending = false
        this.acknowledged += 1
      } catch (error) {
        this.failures.push(`${group.id}: ${(error as Error).message}`)
        return
      }
    }
  }

  #call({ id, token }: TrackedGroup): Promise<Answer> {
    return token === undefined ? this.#caller.getOrCreate(id) : this.#caller.rotate(token)
  }
}
