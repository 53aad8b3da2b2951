import { readFileSync } from 'node:fs'

const readme = readFileSync(new URL('../../client/README.md', import.meta.url), 'utf8')

/** The examples of the client's README, in their order. */
export const readmeExamples: readonly string[] = [
  ...readme.matchAll(/^```(?:js|ts|javascript|typescript)\n([\s\S]*?)^```$/gm),
].map(([, text = '']) => text)
