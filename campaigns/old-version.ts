import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Versions that may still run somewhere when this one is started beside them. */
const commits = [
  '2f2b2127a2c49ddc51cc2684bcb368784419a3fe',
  '3f2e842715a0494c6c843414567be4b57598d056',
  'fbd228c630bb34c0f98038df229442c840fa8d91',
  '7cb6315331d120e9cd085741e493c03301f76f74',
  'e3a64ad79f6f0cf0ca72da18398cf2fda86af875',
  'bc8c242896196727ad542e895466ba888f429070',
]

/**
 * The programs of so many old versions, the oldest first; undefined stands for this one, where the history does not go
 * back far enough.
 */
export function oldPrograms(most: number): { programs: readonly (string | undefined)[]; inWords: string } {
  const found = commits
    .slice(0, most)
    .map((commit) => ({ commit, program: checkOut(commit) }))
    .filter(({ program }) => program)
  if (found.length === 0)
    return { programs: [undefined], inWords: 'this version itself, as no older one is in this history' }
  return {
    programs: found.map(({ program }) => program),
    inWords: found.map(({ commit }) => commit.slice(0, 7)).join(', '),
  }
}

/** With the packages of this version. */
function checkOut(commit: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-old-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const archive = join(folder, 'source.tar')
  try {
    execFileSync('git', ['-C', root, 'archive', '--output', archive, commit, 'src', 'package.json'], { stdio: 'pipe' })
  } catch {
    return undefined
  }
  execFileSync('tar', ['-xf', archive, '-C', folder])
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'src/main.ts')
}
