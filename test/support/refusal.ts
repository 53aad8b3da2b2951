import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { quickStart } from './quick-start.ts'
import { type Environment, testApiToken } from './service-process.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A start that is expected to fail; one that succeeds after all is ended, so that nothing is left running. */
export async function failingStart(environment: Environment): Promise<Ended> {
  const { PATH, HOME, TMPDIR, LANG } = process.env
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { PATH, HOME, TMPDIR, LANG, ...quickStart, PORT: '0', UGS_API_TOKEN: testApiToken, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
  })
  child.stderr.setEncoding('utf8')
  const stderr: string[] = []
  child.stderr.on('data', (text: string) => {
    stderr.push(text)
    if (text.includes('Listening on')) child.kill('SIGKILL')
  })
  const [stdout, [code]] = await Promise.all([child.stdout.setEncoding('utf8').toArray(), once(child, 'close')])
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

/** Exit code 1, and on stderr one sentence and a remedy: no stack, no call to report a bug, no secret. */
export function assertRefusal(ended: Ended, sentence: RegExp, remedy: RegExp, secrets: readonly string[] = []): void {
  const { code, stdout, stderr } = ended
  assert.equal(code, 1, stderr)
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  assert.equal(lines.length, 2, `one sentence and one remedy, not:\n${stderr}`)
  assert.match(lines[0] ?? '', /^ugs: .+\.$/)
  assert.match(lines[0] ?? '', sentence)
  assert.match(lines[1] ?? '', /^ {2}\S/)
  assert.match(lines[1] ?? '', remedy)
  assertQuiet(ended, secrets)
  assert.equal(stdout, '')
}

/** Nothing in the output that an operator should not have to see, or nobody should. */
export function assertQuiet({ stdout, stderr }: Ended, secrets: readonly string[] = []): void {
  const output = stdout + stderr
  assert.doesNotMatch(output, /^\s+at .+:\d+:\d+|node:internal|\.ts:\d+/m, 'no stack trace')
  assert.doesNotMatch(output, /is a bug/)
  for (const secret of [testApiToken, ...secrets]) assert.ok(!output.includes(secret), 'no secret')
}
