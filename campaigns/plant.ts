/** Preloaded into a process of the service: plants the bug of PLANTED_BUG in the modules it loads. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import type { Rewrite } from './campaign.ts'

const source = new URL('../src/', import.meta.url)
const rewrites: Rewrite[] = JSON.parse(process.env.PLANTED_BUG ?? '[]')
const planted = new Map<string, string>()

// All of it at once, before anything is loaded: a bug that no longer fits the code must not pass for one that was found.
for (const { file, find, replace } of rewrites) {
  const { href } = new URL(file, source)
  const text = planted.get(href) ?? readFileSync(new URL(href), 'utf8')
  if (text.split(find).length !== 2) throw new Error(`the planted bug does not fit src/${file}: ${find}`)
  planted.set(
    href,
    text.replace(find, () => replace),
  )
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const text = planted.get(url)
    return text === undefined ? loaded : { ...loaded, source: text }
  },
})
