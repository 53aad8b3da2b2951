import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Import {
  /** A file as its path from the project's root, or the name of a package. */
  from: string
  /** Erased before the program runs. */
  onlyTypes: boolean
  /** Loaded only when that line runs. */
  onDemand: boolean
}

export interface SourceFile {
  /** From the project's root: `src/user-groups/schema.ts`. */
  path: string
  text: string
  imports: Import[]
}

/** The files that make up the program, without their tests. */
export function sourceFiles(folder: string): SourceFile[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ['**/node_modules/**', '**/*.test.ts', '**/dist/**'] })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => {
      const text = readFileSync(root + path, 'utf8')
      return { path, text, imports: importsOf(path, text) }
    })
}

const statement = /^(?:import|export)\s+(type\s+)?(?:([^'"`;]*?)\s+from\s+)?'([^']+)'/gm
const dynamic = /\bimport\(\s*(['"`])(.+?)\1/g

function importsOf(path: string, text: string): Import[] {
  const resolve = (name: string) => (name.startsWith('.') ? posix.join(posix.dirname(path), name) : name)
  return [
    ...text.matchAll(statement).map(([, type, names, from = '']) => {
      return { from: resolve(from), onlyTypes: type !== undefined || areTypes(names), onDemand: false }
    }),
    ...text.matchAll(dynamic).map(([, , from = '']) => ({ from: resolve(from), onlyTypes: false, onDemand: true })),
  ]
}

/** `{ type A, type B }`; an import without names runs the file for its effects. */
function areTypes(names: string | undefined): boolean {
  const inBraces = /^\{([\s\S]*)\}$/.exec(names?.trim() ?? '')?.[1]
  if (inBraces === undefined) return false
  const each = inBraces.split(',').filter((name) => name.trim() !== '')
  return each.length > 0 && each.every((name) => name.trim().startsWith('type '))
}

/** Each cycle once, as the files it runs through. */
export function importCycles(files: readonly SourceFile[]): string[][] {
  const imports = new Map(files.map((file) => [file.path, file.imports.map(({ from }) => from)]))
  const done = new Set<string>()
  const cycles: string[][] = []
  const visit = (path: string, trail: readonly string[]) => {
    const begin = trail.indexOf(path)
    if (begin >= 0) cycles.push([...trail.slice(begin), path])
    if (begin >= 0 || done.has(path)) return
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
  return cycles
}
