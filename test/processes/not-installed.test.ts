import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { root } from '../docs/markdown.ts'
import { assertRefusal } from '../support/refusal.ts'

it('a command in a checkout where nothing is installed says to install, not to start', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-checkout-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const part of ['bin', 'src', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true })
  const command = [join(folder, 'bin/ugs.mjs'), 'restore', 'copy.db']
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' })
  assertRefusal({ code: status, stdout, stderr }, /not installed/, /npm ci --include=dev$/)
  assert.doesNotMatch(stderr, /npm start/)
})
