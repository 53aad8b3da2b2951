#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const [major] = process.versions.node.split('.')
if (Number(major) < 24) {
  process.stderr.write(
    `ugs: Node ${process.version} is too old.\n  Use Node 24 or newer; in a checkout, npm ci --include=dev installs one, and npx ugs then uses it.\n`,
  )
  process.exit(1)
}

// They keep the service small (docs/performance.md), and V8 takes them only as a process starts: so it starts once more.
// Not where it would lose the channel to its parent, and not on Windows, which cannot.
const v8Flags = ['--max-semi-space-size=8', '--heap-growing-percent=15', '--no-allocation-site-pretenuring']
const { argv, execArgv, execPath, channel } = process
const hasFlags = v8Flags.every((flag) => execArgv.includes(flag))
if (argv[2] === 'serve' && !hasFlags && channel === undefined)
  process.execve?.(execPath, [execPath, ...v8Flags, ...execArgv, ...argv.slice(1)])

// In a checkout the source runs as it is, and what Node made of it is kept for the next start. In the published package
// there is only dist/, as Node does not strip types under node_modules.
const source = new URL('../src/main.ts', import.meta.url)
const isCheckout = existsSync(source)
if (isCheckout) module.enableCompileCache?.(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
await import(isCheckout ? source.href : new URL('../dist/main.js', import.meta.url).href).catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.startsWith('Cannot find package')) throw error
  // Not npm start, which would make a database too: somebody may be here to restore one.
  process.stderr.write(
    'ugs: The packages it needs are not installed.\n  Install them; in a checkout, run: npm ci --include=dev\n',
  )
  process.exit(1)
})
// Now already: a service may be killed, and would then have kept nothing.
if (isCheckout) module.flushCompileCache?.()
