import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Every document of the project, by its path from the root. */
export const documents: readonly string[] = globSync(['*.md', 'docs/**/*.md', 'client/*.md'], { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .sort()

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** A table as the documents write it: aligned, so that it reads well as plain text too. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...escaped.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(headings), line(widths.map((width) => '-'.repeat(width))), ...escaped.map(line)].join('\n')
}

/** The table of a document whose headings are these, as it is written there. */
export function tableIn(path: string, ...headings: string[]): string {
  const found = tables(read(path)).find((text) => headingsOf(text).join('|') === headings.join('|'))
  if (found === undefined) throw new Error(`${path} has no table with the headings ${headings.join(', ')}`)
  return found
}

export function headingsOf(text: string): string[] {
  const [first = ''] = text.split('\n')
  return cells(first)
}

/** The cells of a table's rows, without its headings. */
export function rowsOf(text: string): string[][] {
  return text.split('\n').slice(2).map(cells)
}

export function tables(markdown: string): string[] {
  return withoutFences(markdown).match(/^\|.*\|(?:\n\|.*\|)*$/gm) ?? []
}

export function withoutFences(markdown: string): string {
  return markdown.replaceAll(fence, '')
}

export interface Fence {
  language: string
  text: string
  /** True when nothing stands between this one and the one before. */
  follows: boolean
}

const fence = /^```(\w*)\n(.*?)^```$/gms

export function fences(markdown: string): Fence[] {
  let end = -1
  return [...markdown.matchAll(fence)].map((match) => {
    const between = end < 0 ? '-' : markdown.slice(end, match.index)
    end = match.index + match[0].length
    return { language: match[1] ?? '', text: match[2] ?? '', follows: between.trim() === '' }
  })
}

export function inCode(text: string): string {
  return `\`${text}\``
}

function cells(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}
