import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import pg from 'pg'
import { createPostgres, type PostgresServer } from '../test/support/postgres-server.ts'

type Outcome = 'passed' | 'failed' | 'timed out'

interface Trial {
  /** From the project's root. */
  test: string
  /** The text that stands in a file while the test runs. */
  change?: { file: string; text: string; original: string }
  patience: number
}

export interface Workbench {
  run(trial: Trial): Promise<Outcome>
  /** Ends what is running; its outcome says nothing then. */
  stop(): void
  remove(): Promise<void>
}

/** A copy of the project in which files may be changed, with a PostgreSQL of its own for the tests that want one. */
export function createWorkbench(root: string): Workbench {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-mutants-'))
  // A PostgreSQL that a test starts in it is another user's.
  chmodSync(folder, 0o755)
  const copy = join(folder, 'project')
  const scratch = join(folder, 'tmp')
  cpSync(root, copy, { recursive: true, filter: (path) => !/^(node_modules|\.git|dist|data)$/.test(basename(path)) })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  let postgres: PostgresServer | undefined
  let running: number | undefined

  async function startPostgres(): Promise<PostgresServer> {
    // Nothing here outlives the run, so nothing needs to reach the disk.
    postgres = await createPostgres({ fsync: 'off' })
    await postgres.start()
    return postgres
  }

  async function run({ test, change, patience }: Trial): Promise<Outcome> {
    const url = test.startsWith('test/') ? (postgres ?? (await startPostgres())).url : undefined
    mkdirSync(scratch)
    if (change) writeFileSync(join(copy, change.file), change.text)
    try {
      return await outcomeOf(test, patience, { ...process.env, TEST_POSTGRES_URL: url, TMPDIR: scratch })
    } finally {
      if (change) writeFileSync(join(copy, change.file), change.original)
      rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
      if (url !== undefined) await dropTestDatabases(url)
    }
  }

  async function outcomeOf(test: string, patience: number, env: NodeJS.ProcessEnv): Promise<Outcome> {
    // A group of its own, to which the services that the test starts belong too.
    const child = spawn(process.execPath, ['--test-reporter=tap', test], {
      ...{ cwd: copy, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
    })
    running = child.pid
    let outcome: Outcome | undefined
    const end = (found: Outcome) => {
      outcome ??= found
      endGroup(running)
    }
    const timer = setTimeout(end, patience, 'timed out')
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (/^ *not ok /m.test(output)) end('failed')
    })
    const [code] = await once(child, 'exit')
    clearTimeout(timer)
    endGroup(running)
    return outcome ?? (code === 0 ? 'passed' : 'failed')
  }

  return {
    run,
    stop: () => endGroup(running),
    async remove() {
      await postgres?.remove()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it had ended.
  }
}

/** Those that a test left when it was stopped. */
async function dropTestDatabases(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  // What breaks the connection fails the query too; unheard, it would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<[string]>({
      text: `select datname from pg_database where datname like 'test\\_%'`,
      rowMode: 'array',
    })
    for (const [name] of rows) await client.query(`drop database ${name} with (force)`)
  } finally {
    await client.end()
  }
}
