import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { family } from '../../bench/processes.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { startService, v8Flags } from '../support/service-process.ts'
import { times } from '../support/times.ts'

const [sqlite = assert.fail()] = engines
const ugs = fileURLToPath(new URL('../../bin/ugs.mjs', import.meta.url))

describe('the service keeps its memory small', { skip: !existsSync('/proc/self/cmdline') }, () => {
  for (const [workers, processes] of [
    ['1', 1],
    ['2', 3],
  ] as const)
    it(`however it was started, with ${workers} worker(s)`, async (t) => {
      const { environment, remove } = await sqlite.freshDatabase()
      t.after(remove)
      const service = await startService({ ...environment, UGS_WORKERS: workers }, { hasFlags: false })
      t.after(() => service.stop('SIGKILL'))
      assert.deepEqual(
        family(service.process.pid ?? 0).map(commandLine),
        times(processes, () => [...v8Flags, ugs, 'serve']),
      )
      assert.equal(await service.stop(), 0)
    })

  it('but for what the operator asks V8 for, of which the last counts', async (t) => {
    const { environment, remove } = await sqlite.freshDatabase()
    t.after(remove)
    const under = ['sh', '-c', 'node=$1; shift; exec "$node" --max-semi-space-size=4 "$@"', 'sh']
    const service = await startService(environment, { under, hasFlags: false })
    t.after(() => service.stop('SIGKILL'))
    assert.deepEqual(commandLine(service.process.pid), [...v8Flags, '--max-semi-space-size=4', ugs, 'serve'])
  })

  it('and does not hang up on a process that started it to talk with it', async (t) => {
    const { environment, remove } = await sqlite.freshDatabase()
    t.after(remove)
    const { PATH } = process.env
    const child = fork(ugs, ['serve'], { env: { PATH, PORT: '0', ...environment }, execArgv: [], silent: true })
    t.after(() => child.kill('SIGKILL'))
    let printed = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    await eventually('the greeting', () => /Listening on/.test(printed))
    assert.equal(child.connected, true)
  })
})

/** Without what is run: Node itself. */
function commandLine(pid = 0): string[] {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(1, -1)
}
