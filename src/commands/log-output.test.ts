import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it, type TestContext } from 'node:test'
import { LogOutput } from './log-output.ts'

/** A place for a log that has room for so many characters. */
function smallPlace(t: TestContext, room: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const place = { room, text: '' }
  const output = new LogOutput(
    (line) => {
      const taken = line.slice(0, place.room)
      place.text += taken
      place.room -= taken.length
      return line.slice(taken.length)
    },
    (lines) => output.write(`lost ${lines}\n`),
  )
  return { place, output, later: () => t.mock.timers.tick(100) }
}

describe('the output of the log', () => {
  it('passes lines on as they come', (t) => {
    const { place, output } = smallPlace(t, 100)
    output.write('one\n')
    assert.equal(place.text, 'one\n')
    output.write('two\n')
    assert.equal(place.text, 'one\ntwo\n')
  })

  it('keeps what finds no room, the rest of a line too, until there is some', (t) => {
    const { place, output, later } = smallPlace(t, 6)
    for (const line of ['one\n', 'two\n', 'three\n']) output.write(line)
    assert.equal(place.text, 'one\ntw')
    later()
    assert.equal(place.text, 'one\ntw')
    place.room = 5
    later()
    assert.equal(place.text, 'one\ntwo\nthr')
    place.room = 100
    output.write('four\n')
    assert.equal(place.text, 'one\ntwo\nthr', 'in their order')
    later()
    assert.equal(place.text, 'one\ntwo\nthree\nfour\n')
    output.write('five\n')
    assert.equal(place.text, 'one\ntwo\nthree\nfour\nfive\n')
  })

  it('loses what is beyond a mebibyte, and says how many lines those were', (t) => {
    const { place, output, later } = smallPlace(t, 0)
    const line = `${'x'.repeat(1023)}\n`
    for (let lines = 0; lines < 1_024 + 5; lines += 1) output.write(line)
    place.room = Number.POSITIVE_INFINITY
    later()
    assert.equal(place.text, `${line.repeat(1_024)}lost 5\n`)
    output.write('next\n')
    later()
    assert.match(place.text, /\nlost 5\nnext\n$/)
    place.room = 0
    for (let lines = 0; lines < 1_024; lines += 1) output.write(line)
    place.room = Number.POSITIVE_INFINITY
    later()
    assert.ok(place.text.endsWith(`next\n${line.repeat(1_024)}`), 'as much fits in again')
  })

  it('passes on what still waits as the process ends', () => {
    const { stdout } = spawnSync(process.execPath, [
      '--input-type=module',
      '--eval',
      `import { writeSync } from 'node:fs'
      import { LogOutput } from ${JSON.stringify(new URL('log-output.ts', import.meta.url))}
      let hasRoom = false
      const take = (line) => (hasRoom ? line.slice(writeSync(1, line)) : line)
      new LogOutput(take, () => {}).write('the last line\\n')
      hasRoom = true
      process.exit()`,
    ])
    assert.equal(stdout.toString(), 'the last line\n')
  })
})
