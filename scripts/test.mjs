// The whole suite, or the files named behind "npm run test:run --": one PostgreSQL for all, two files at a time.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// What Node has compiled is kept for the next file: each is a process of its own.
const NODE_COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))
const files = process.argv.slice(2)
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-global-setup=test/support/global-setup.ts',
    '--test-concurrency=2',
    '--test-timeout=300000',
    ...(files.length > 0 ? files : ['test/**/*.test.ts', 'src/**/*.test.ts']),
  ],
  { stdio: 'inherit', env: { NODE_COMPILE_CACHE, ...process.env } },
)
process.exit(status ?? 1)
