import pg from 'pg'
import { type PostgresServers, postgresServers } from './postgres-url.ts'

type Address = Pick<pg.Client, 'host' | 'port'>
type Callback = Parameters<pg.Client['connect']>[0]

/** Its code is that of a host out of reach: work that meets it may be tried again. */
class NoServer extends Error {
  readonly code = 'EHOSTUNREACH'
}

/** What a pool connects with: plain clients, unless the URL names several servers or asks for one that takes writes. */
export function clientFor(url: string, patience: number): typeof pg.Client {
  const servers = postgresServers(url)
  const [first] = servers.urls
  if (servers.urls.length === 1 && !servers.mustWrite) return pg.Client
  const search = new Search(servers, patience)

  return class extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionString: first })
      if (servers.mustWrite) this.connection.on('parameterStatus', (status) => this.#leaveReadOnly(status))
    }

    override connect(callback?: Callback): Promise<pg.Client> {
      const found = search.find().then((address) => Object.assign(this, address))
      return found.then(() => super.connect(callback as Callback), callback as () => void) as Promise<never>
    }

    /** A server tells its sessions when it stops taking writes, as one does that hands over to another. */
    #leaveReadOnly({ parameterName, parameterValue }: Record<'parameterName' | 'parameterValue', string>): void {
      if (!/^(in_hot_standby|default_transaction_read_only)$/.test(parameterName) || parameterValue !== 'on') return
      this.connection.stream.destroy(new NoServer(`${this.host}:${this.port} is read-only`))
    }
  }
}

/** Tries one server after the other, beginning with the one that served last: another may be long in not answering. */
class Search {
  readonly #servers: PostgresServers
  readonly #patience: number
  #served = 0
  #underWay: Promise<Address> | undefined

  /** `patience` is for all of them and the connection that follows, in milliseconds. */
  constructor(servers: PostgresServers, patience: number) {
    this.#servers = servers
    this.#patience = patience / (servers.urls.length + 1)
  }

  /** Those who look at the same time share one search. */
  find(): Promise<Address> {
    this.#underWay ??= this.#tryAll().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  async #tryAll(): Promise<Address> {
    const { urls } = this.#servers
    const refusals: string[] = []
    for (const _ of urls) {
      const probe = new pg.Client({
        connectionString: urls[this.#served],
        connectionTimeoutMillis: this.#patience,
        query_timeout: this.#patience,
      })
      const { host, port } = probe
      try {
        await this.#examine(probe)
        return { host, port }
      } catch (error) {
        refusals.push(`${host}:${port} ${(error as Error).message || (error as NodeJS.ErrnoException).code}`)
        this.#served = (this.#served + 1) % urls.length
      } finally {
        void probe.end()
      }
    }
    throw new NoServer(refusals.join('; '))
  }

  async #examine(probe: pg.Client): Promise<void> {
    // What breaks it is in the answer that fails; unheard, the error would end the process.
    probe.on('error', () => {})
    await probe.connect()
    if (!this.#servers.mustWrite) return
    const { rows } = await probe.query<[string]>({ text: 'show transaction_read_only', rowMode: 'array' })
    if (rows[0]?.[0] !== 'off') throw new Error('is read-only')
  }
}
