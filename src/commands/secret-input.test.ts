import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { readToken } from './secret-input.ts'

it('a token is read from a file without the blanks and line ends around it, and from none that is large', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-secret-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'token')
  for (const blank of ['', '\n', '\r\n', '\n\n', ' ', '\t\n']) {
    writeFileSync(file, `${blank}ugt_secret${blank}`)
    assert.equal(await readToken(file), 'ugt_secret')
  }
  writeFileSync(file, 'x'.repeat(256 * 1024 + 1))
  await assert.rejects(readToken(file), /larger than 256 KiB/)
})
