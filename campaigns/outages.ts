import pg from 'pg'
import type { PostgresServer } from '../test/support/postgres-server.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { TcpProxy } from './tcp-proxy.ts'

/** The database of the service, as the campaign has it in hand. */
export interface Site {
  server: PostgresServer
  /** Of the service's database, past the proxy. */
  url: string
  /** Between the service and the server. */
  proxy: TcpProxy
  random: () => number
}

/** A way to lose the database. */
export interface Outage {
  name: string
  /** Whether nobody gets through until it is over; otherwise it only hits those who are under way. */
  isComplete: boolean
  /** Whether it has to be sat through: then it also comes longer than any time-out of the service. */
  isQuiet?: true
  /** Returns what ends it. */
  begin(site: Site): Promise<() => unknown>
}

const deadlock = '40P01'
const sessions = `from pg_stat_activity where application_name = 'user-group-service'`

function onServer({ server }: Site, statement: string) {
  return rawSql({ DATABASE_URL: server.url }, statement)
}

export const outages: readonly Outage[] = [
  {
    name: 'the server was restarted',
    isComplete: true,
    async begin({ server }) {
      await server.stop('fast')
      return () => server.start()
    },
  },
  {
    name: 'every statement was cancelled',
    isComplete: false,
    async begin(site) {
      for (let times = 0; times < 20; times++) await onServer(site, `select pg_cancel_backend(pid) ${sessions}`)
      return () => {}
    },
  },
  {
    name: 'connections were refused',
    isComplete: true,
    async begin({ proxy }) {
      proxy.refuse()
      return () => proxy.mend()
    },
  },
  {
    name: 'connections fell silent',
    isComplete: true,
    isQuiet: true,
    async begin({ proxy }) {
      proxy.fallSilent()
      return () => proxy.mend()
    },
  },
  {
    name: 'answers broke off',
    isComplete: false,
    async begin({ proxy, random }) {
      proxy.truncate(Math.floor(random() * 400))
      return () => proxy.mend()
    },
  },
  {
    name: 'connections were cut',
    isComplete: false,
    async begin({ proxy }) {
      proxy.cut()
      return () => {}
    },
  },
  {
    name: 'the server took no more connections',
    isComplete: true,
    async begin(site) {
      const database = new URL(site.url).pathname.slice(1)
      await onServer(site, `alter database ${database} connection limit 0`)
      await onServer(site, `select pg_terminate_backend(pid, 5000) ${sessions}`)
      return () => onServer(site, `alter database ${database} connection limit -1`)
    },
  },
  {
    name: 'somebody locked the tables, and the pool ran out',
    isComplete: true,
    isQuiet: true,
    async begin({ url }) {
      const holder = new pg.Client({ connectionString: url })
      holder.on('error', () => {})
      await holder.connect()
      await lockAll(holder)
      return () => holder.end()
    },
  },
  {
    name: 'the server crashed',
    isComplete: true,
    async begin({ server }) {
      await server.stop('immediate')
      return () => server.start()
    },
  },
]

/** Of two who wait for each other PostgreSQL stops one: then we try again. */
async function lockAll(holder: pg.Client): Promise<void> {
  for (;;) {
    try {
      await holder.query('begin')
      await holder.query('lock table api_token, master_key, user_group, event_position in access exclusive mode')
      return
    } catch (error) {
      await holder.query('rollback')
      if ((error as { code?: string }).code !== deadlock) throw error
    }
  }
}
