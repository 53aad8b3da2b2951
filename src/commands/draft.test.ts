import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { putInPlace, withDraft } from './draft.ts'

function newTarget(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-draft-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return { folder, target: join(folder, 'target') }
}

const onDiskWithoutLinks = () => Promise.reject(Object.assign(new Error('no links here'), { code: 'EPERM' }))

describe('a draft', () => {
  it('is its own for each of two at the same target, and nothing of it is left', async (t) => {
    const { folder, target } = newTarget(t)
    const [one, other] = await Promise.all(
      ['one', 'other'].map((text) =>
        withDraft(target, async (draft) => {
          assert.equal(statSync(draft).mode & 0o777, 0o600)
          await appendFile(draft, text)
          await appendFile(`${draft}-journal`, text)
          return readFileSync(draft, 'utf8')
        }),
      ),
    )
    assert.deepEqual([one, other], ['one', 'other'])
    assert.deepEqual(readdirSync(folder), [])
  })

  it('is gone too when its use fails, or the process is ended by a signal, with all that SQLite put beside it', async (t) => {
    const { folder, target } = newTarget(t)
    const failing = withDraft(target, () => Promise.reject(new Error('no room')))
    await assert.rejects(failing, /no room/)
    assert.deepEqual(readdirSync(folder), [])
    for (const ending of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      const { signal } = spawnSync(process.execPath, [
        '--input-type=module',
        '--eval',
        `import { writeFileSync } from 'node:fs'
        import { withDraft } from ${JSON.stringify(new URL('draft.ts', import.meta.url))}
        await withDraft(${JSON.stringify(target)}, async (draft) => {
          for (const end of ['-journal', '-wal', '-shm']) writeFileSync(draft + end, '')
          process.kill(process.pid, '${ending}')
          await new Promise((resolve) => setTimeout(resolve, 60_000))
        })`,
      ])
      assert.equal(signal, ending)
      assert.deepEqual(readdirSync(folder), [], ending)
    }
  })

  for (const [disk, link] of [
    ['a disk', undefined],
    ['a disk without links', onDiskWithoutLinks],
  ] as const)
    it(`is put in place on ${disk}, but over nothing that is there`, async (t) => {
      const { folder, target } = newTarget(t)
      const put = (text: string, to: string) =>
        withDraft(to, async (draft) => {
          await appendFile(draft, text)
          await putInPlace(draft, to, link)
        })
      await put('first', target)
      await assert.rejects(put('second', target), /target exists already/)
      assert.equal(readFileSync(target, 'utf8'), 'first')
      const astray = join(folder, 'link')
      symlinkSync(join(folder, 'elsewhere'), astray)
      await assert.rejects(put('third', astray), /link exists already/)
      assert.deepEqual(readdirSync(folder).sort(), ['link', 'target'])
    })
})
