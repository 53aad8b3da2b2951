import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A project of somebody who has installed the client, built from the source as it is now; returns its folder. */
export function projectWithClient(scripts: Record<string, string>): string {
  const project = mkdtempSync(join(tmpdir(), 'ugs-client-'))
  after(() => rmSync(project, { recursive: true, force: true }))
  const installed = join(project, 'node_modules/user-group-service-client')
  mkdirSync(installed, { recursive: true })
  cpSync(join(root, 'client/package.json'), join(installed, 'package.json'))
  const typescript = join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [typescript, '-p', join(root, 'client'), '--outDir', join(installed, 'dist')])
  // The README's example for Fastify, and all that Fastify needs itself.
  const others = readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.'))
  for (const name of others) symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name))
  writeFileSync(join(project, 'package.json'), '{"type":"module","private":true}')
  for (const [name, text] of Object.entries(scripts)) writeFileSync(join(project, name), text)
  return project
}
