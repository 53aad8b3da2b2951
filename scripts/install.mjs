// Runs before "npm start" and "npm test", on whatever Node the machine has: installs what the lockfile names, unless it
// is there. Behind it may stand another folder with a lockfile.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

process.chdir(process.argv[2] ?? '.')

if (!isInstalled()) {
  process.stderr.write('Installing dependencies from package-lock.json, this once …\n')
  // With NODE_ENV=production npm would leave out the Node that the service runs on.
  const { status } = spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0) {
    process.stderr.write(
      'Installing failed.\n  Check the connection to the npm registry and run "npm ci --include=dev" to see more.\n',
    )
    process.exit(1)
  }
}

/** By what is there, as npm's own list of it also changes where nothing is installed; but npm writes that list last. */
function isInstalled() {
  const { packages } = readJson('package-lock.json')
  return (
    existsSync('node_modules/.package-lock.json') &&
    Object.entries(packages).every(([path, { version, optional }]) => {
      if (path === '') return true
      const there = readJson(`${path}/package.json`)
      // What is for other machines, npm leaves out.
      return there ? there.version === version : optional
    })
  )
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
