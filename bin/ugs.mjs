#!/usr/bin/env node
// In a checkout the source runs as it is; in the published package there is only dist/, as Node does not strip types
// under node_modules.
import { existsSync } from 'node:fs'

const source = new URL('../src/main.ts', import.meta.url)
const [major] = process.versions.node.split('.')
if (Number(major) < 24) {
  process.stderr.write(
    `ugs: Node ${process.version} is too old.\n  Use Node 24 or newer; in a checkout, npm start installs one, and npx ugs then uses it.\n`,
  )
  process.exit(1)
}
await import(existsSync(source) ? source.href : new URL('../dist/main.js', import.meta.url).href)
