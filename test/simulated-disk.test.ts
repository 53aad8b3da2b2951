import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { seeded } from '../campaigns/random.ts'
import { Disk, type DiskEvent, theFolder } from '../campaigns/simulated-disk.ts'
import { canTrace, readTrace, traced } from '../campaigns/strace.ts'
import { eventually } from './support/eventually.ts'
import { times } from './support/times.ts'

function diskAfter(events: readonly DiskEvent[]): Disk {
  const disk = new Disk()
  for (const event of events) disk.apply(event)
  return disk
}

function write(file: string, at: number, letter: string, length: number): DiskEvent {
  return { does: 'write', file, at, bytes: Buffer.alloc(length, letter) }
}

const flushedFile: DiskEvent[] = [
  { does: 'create', file: 'a' },
  write('a', 0, 'x', 1_500),
  { does: 'flush', file: 'a' },
  { does: 'flush', file: theFolder },
]

/** The texts of a file after many power losses. */
function remains(events: readonly DiskEvent[], file: string, share: number): Set<string | undefined> {
  const disk = diskAfter(events)
  const random = seeded(1)
  return new Set(times(500, () => disk.afterPowerLoss(random, share).get(file)).map((bytes) => bytes && text(bytes)))
}

/** Runs of a letter, counted: `x512 y12`. */
function text(bytes: Uint8Array): string {
  const runs =
    Buffer.from(bytes)
      .toString('latin1')
      .replaceAll('\0', '0')
      .match(/(.)\1*/g) ?? []
  return runs.map((run) => `${run[0]}${run.length}`).join(' ')
}

describe('a disk that loses its power', () => {
  it('keeps what was flushed, whatever else is lost', () => {
    for (const share of [0, 0.5, 1]) assert.deepEqual([...remains(flushedFile, 'a', share)], ['x1500'])
  })

  it('keeps any part of what was not flushed, sector by sector', () => {
    const events = [...flushedFile, write('a', 500, 'y', 600)]
    const possible = ['x1500', 'x500 y12 x988', 'x512 y512 x476', 'x1024 y76 x400', 'x500 y600 x400']
    const seen = remains(events, 'a', 0.5)
    for (const one of possible) assert.ok(seen.has(one), `${one} in ${[...seen].join(', ')}`)
    assert.equal(seen.size, 8)
    assert.deepEqual([...remains(events, 'a', 0)], ['x1500'])
    assert.deepEqual([...remains(events, 'a', 1)], ['x500 y600 x400'])
  })

  it('fills with zeros what a later write has left out', () => {
    const events = [...flushedFile, write('a', 1_500, 'y', 36), write('a', 1_536, 'z', 10)]
    assert.ok(remains(events, 'a', 0.5).has('x1500 036 z10'))
  })

  it('may forget that a file was cut short, or made', () => {
    const events: DiskEvent[] = [
      ...flushedFile,
      { does: 'truncate', file: 'a', size: 10 },
      { does: 'create', file: 'b' },
    ]
    assert.deepEqual(remains(events, 'a', 0.5), new Set(['x10', 'x1500']))
    assert.deepEqual([...remains(events, 'b', 0)], [undefined])
    assert.deepEqual([...remains(events, 'b', 1)], [''])
  })

  it('changes names in their order', () => {
    const events: DiskEvent[] = [
      ...flushedFile,
      { does: 'link', file: 'a', to: 'b' },
      { does: 'unlink', file: 'a' },
      { does: 'rename', file: 'b', to: 'c' },
    ]
    const names = (share: number) => [...diskAfter(events).afterPowerLoss(Math.random, share).keys()].join()
    assert.deepEqual([0, 0.25, 0.5, 1].map(names), ['a', 'a,b', 'b', 'c'])
  })

  it('has the same files as the real one when nothing is lost', {
    skip: !canTrace && 'strace is not here',
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ugs-disk-'))
    try {
      const data = join(folder, 'data')
      mkdirSync(data)
      const [command = '', ...args] = [...traced(join(folder, 'trace')), process.execPath, '-e', script]
      const child = spawn(command, args, { cwd: data })
      await once(child, 'exit')
      const events = await eventually('the trace is complete', () =>
        readTrace(join(folder, 'trace'), child.pid ?? 0, data),
      )
      const files = [...diskAfter(events).afterPowerLoss(() => 0, 1)].map(([name, bytes]) => [name, text(bytes)])
      const real = readdirSync(data).map((name) => [name, text(readFileSync(join(data, name)))])
      assert.deepEqual(files.sort(), real.sort())
      assert.deepEqual(real, [
        ['kept', 'b2 a3 z4 01'],
        ['log', 'l9'],
      ])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

const script = `
  const path = (name) => process.cwd() + '/' + name
  const file = fs.openSync(path('draft'), 'w')
  fs.writeSync(file, 'aaaaa')
  fs.writeSync(file, 'zzzzzz', 5)
  fs.writeSync(file, 'bb', 0)
  fs.ftruncateSync(file, 9)
  fs.ftruncateSync(file, 10)
  fs.fsyncSync(file)
  fs.linkSync(path('draft'), path('linked'))
  fs.renameSync(path('linked'), path('kept'))
  fs.unlinkSync(path('draft'))
  fs.appendFileSync(path('log'), 'lll')
  fs.appendFileSync(path('log'), 'llllll')
  process.kill(process.pid, 'SIGKILL')`
