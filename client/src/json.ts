const strings = /"(?:[^"\\]+|\\.)*"(\s*:)?/g

/**
 * JSON.parse, but for a fault of V8: it takes a key with an escape for one with a backslash that it has met before, in
 * whoever's text (https://github.com/nodejs/node/issues/63785). So it is shown none.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!text.includes('\\')) return value
  const mark = absentFrom(text)
  const marks = new Map<string, string>()
  const shown = text.replaceAll(strings, (token: string, colon: string | undefined) => {
    if (colon === undefined || !token.includes('\\')) return token
    const name: string = JSON.parse(token.slice(0, -colon.length))
    const key = JSON.stringify(name)
    if (!key.includes('\\')) return key + colon
    // The same key for the same name, so that of two the last counts as ever.
    if (!marks.has(name)) marks.set(name, `${mark}${marks.size}`)
    return `"${marks.get(name)}"${colon}`
  })
  return shown === text ? value : withNames(shown, new Map([...marks].map(([name, key]) => [key, name])))
}

function withNames(text: string, names: ReadonlyMap<string, string>): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    if (!isObject(value) || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [names.get(key) ?? key, inner]))
  })
}

function absentFrom(text: string): string {
  const mark = `key ${Math.random()} `
  return text.includes(mark) ? absentFrom(text) : mark
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
