/** Preloaded into a process of the service: plants the bug of PLANTED_BUG in the modules it loads. */
import { registerHooks } from 'node:module'
import type { Rewrite } from './campaign.ts'

const source = new URL('../src/', import.meta.url).href
const bug: Rewrite[] = JSON.parse(process.env.PLANTED_BUG ?? '[]')

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const rewrites = bug.filter(({ file }) => url === source + file)
    if (rewrites.length === 0) return loaded
    let text = String(loaded.source)
    for (const { file, find, replace } of rewrites) {
      if (text.split(find).length !== 2) throw new Error(`the planted bug does not fit src/${file}: ${find}`)
      text = text.replace(find, () => replace)
    }
    return { ...loaded, source: text }
  },
})
