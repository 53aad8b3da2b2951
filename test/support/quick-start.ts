import { fileURLToPath } from 'node:url'

/** Node keeps what it compiled here: a process starts in half the time, and these tests start hundreds. */
export const quickStart = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)),
}
