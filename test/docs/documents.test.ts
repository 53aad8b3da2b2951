import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, it } from 'node:test'
import { documents, headingsOf, read, root, rowsOf, table, tables, withoutFences } from './markdown.ts'

for (const document of documents)
  describe(document, () => {
    const text = read(document)

    it('links to files and headings that exist', () => {
      for (const [, target = ''] of withoutFences(text).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue
        const [path = '', anchor] = target.split('#')
        const file = path === '' ? document : normalize(join(dirname(document), path))
        assert.ok(existsSync(join(root, file)), `${target}: there is no ${file}`)
        if (anchor !== undefined) assert.ok(anchorsOf(file).includes(anchor), `${target}: ${file} has no such heading`)
      }
    })

    it('names files and folders that exist', () => {
      for (const path of pathsNamedIn(text)) {
        const isThere = path.includes('*') ? globSync(path, { cwd: root }).length > 0 : existsSync(join(root, path))
        assert.ok(isThere, `there is no ${path}`)
      }
    })

    it('lets npx install nothing where it has no terminal to ask', () =>
      assert.doesNotMatch(text, /\| *npx ugs|npx ugs [^\n`|;]* </))

    it('has tables that are aligned', () => {
      for (const written of tables(text)) assert.equal(written, table(headingsOf(written), rowsOf(written)))
    })
  })

/** Paths below a folder of the source wherever they stand, and files of the root where they are set as code. */
function pathsNamedIn(text: string): string[] {
  const below = text.match(/(?<![\w./-])(?:src|test|docs|scripts|bin|campaigns|\.ci)\/[\w*./-]*/g) ?? []
  const inRoot = [...text.matchAll(/`(Dockerfile|LICENSE|[\w.-]+\.(?:md|json|yaml))`/g)].map(([, name = '']) => name)
  return [...below.map((path) => path.replace(/[.,]+$/, '')), ...inRoot]
}

/** The anchors that a forge makes from the headings of a document. */
function anchorsOf(document: string): string[] {
  const headings = withoutFences(read(document)).matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}
