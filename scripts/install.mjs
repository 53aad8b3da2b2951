// Runs before "npm start" and "npm test", on whatever Node the machine has: installs what the lockfile names, once.
// Behind it may stand another folder with a lockfile.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

process.chdir(process.argv[2] ?? '.')
const stamp = 'node_modules/.installed'
const wanted = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex')

if (readIfThere(stamp) !== wanted) {
  process.stderr.write('Installing dependencies from package-lock.json, this once …\n')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0) {
    process.stderr.write(
      'Installing failed.\n  Check the connection to the npm registry and run "npm ci" to see more.\n',
    )
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
