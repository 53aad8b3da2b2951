import assert from 'node:assert/strict'
import { type Ended, startUnder } from './command.ts'
import { type Environment, testApiToken } from './service-process.ts'

/** A start that is expected to fail; one that succeeds after all is ended, so that nothing is left running. */
export function failingStart(environment: Environment, under: readonly string[] = []): Promise<Ended> {
  const start = startUnder(under, { PORT: '0', UGS_API_TOKEN: testApiToken, ...environment }, 'serve')
  start.process.stderr?.on('data', (text: string) => {
    if (text.includes('Listening on')) start.process.kill('SIGKILL')
  })
  return start.ended
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
