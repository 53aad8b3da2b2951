import { readFileSync } from 'node:fs'

// Beside src/ in a checkout and beside dist/ in the package.
const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')

export const { version } = JSON.parse(manifest) as { version: string }
