import { createHash } from 'node:crypto'
import { catalogue } from '../errors.ts'
import { errorCodes, moreOf } from './openapi.ts'
import { type Operation, replySchema } from './operation.ts'

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: #2563eb }
@media (prefers-color-scheme: dark) { :root { --accent: #8ab4ff } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 6rem }
h1 { font-size: 1.7rem; margin: 0 } h2 { font-size: 1.15rem; margin: 3rem 0 .25rem; scroll-margin-top: 1rem }
h3 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; margin: 1.25rem 0 .35rem; opacity: .7 }
code, pre { font: .86rem/1.5 ui-monospace, monospace } p code { overflow-wrap: anywhere }
td code { white-space: nowrap } h2 code { font-size: 1.05rem }
pre { background: var(--soft); border-radius: .5rem; padding: .75rem 1rem; overflow-x: auto; margin: 0 }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line) }
nav ul { list-style: none; padding: 0; columns: 22rem } nav li { break-inside: avoid; padding: .1rem 0 }
@media (max-width: 40rem) { tr { border-bottom: 1px solid var(--line) } tr, td { display: block } td { border: 0; padding: .1rem 0; overflow-wrap: anywhere } td code { white-space: normal } }
a { color: var(--accent); text-decoration: none } a:hover { text-decoration: underline }
.method { display: inline-block; min-width: 4.2rem; font-weight: 600 } .required { font-weight: 600 }`

/** The page brings its one style along, and the browser is told to load nothing else from anywhere. */
export const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The declarations as a page to read: no script, no outside address. */
export function docsPage(operations: readonly Operation[], version: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>User Group Service ${escaped(version)}</title><style>${style}</style></head><body>
<h1>User Group Service</h1>
<p>Version ${escaped(version)}. A call that needs a scope carries <code>Authorization: Token &lt;API_TOKEN&gt;</code>, and one with
a body <code>Content-Type: application/json</code>. A failed call answers
<code>{"success":0,"error":{"code","message","field"},"request_id"}</code>.
For programs: <a href="openapi.json">openapi.json</a>.</p>
<nav><ul>${operations.map((o) => `<li><a href="#${o.id}">${heading(o)}</a></li>`).join('')}</ul></nav>
${operations.map(section).join('\n')}
</body></html>`
}

function heading({ method, path }: Operation): string {
  return `<code><span class="method">${method}</span> ${escaped(path)}</code>`
}

function section(declared: Operation): string {
  const { body, query } = declared.scope === null ? {} : declared
  const scope = declared.scope === null ? 'Needs no API token.' : `Needs the scope <code>${declared.scope}</code>.`
  return `<section><h2 id="${declared.id}">${heading(declared)}</h2>
<p>${escaped(declared.summary)} ${escaped(moreOf(declared))}${scope}</p>
${query ? `<h3>Query</h3>${fields(held(query), input)}` : ''}
${body ? `<h3>Body</h3>${fields(held(body), input)}` : ''}
${declared.example.body ? `<h3>Example</h3><pre>${pretty(declared.example.body)}</pre>` : ''}
<h3>Answer</h3><pre>${pretty({ success: 1, ...declared.example.reply })}</pre>
${fields(held(replySchema(declared) as Described).filter(addsToExample), { certain: 'always', uncertain: 'sometimes' })}
<h3>Errors</h3><table>${errorCodes(declared).map(errorRow).join('')}</table></section>`
}

interface Described {
  description?: string
  enum?: readonly string[]
  properties?: Record<string, Described>
  required?: readonly string[]
  items?: Described
}

interface Field {
  name: string
  isThere: boolean
  meaning: string
}

/** What it holds, and what is in that: `events[].kind`. */
function held({ properties = {}, required = [] }: Described, path = ''): Field[] {
  return Object.entries(properties).flatMap(([key, inner]) => {
    const name = path + key
    const meaning = inner.description ?? inner.enum?.join(', ') ?? ''
    const field = { name, isThere: required.includes(key), meaning }
    return [field, ...held(inner, `${name}.`), ...(inner.items ? held(inner.items, `${name}[].`) : [])]
  })
}

/** What is there always, and says all by its name and in the example, need not be listed. */
function addsToExample({ isThere, meaning }: Field): boolean {
  return !isThere || meaning !== ''
}

const input = { certain: 'required', uncertain: 'optional' }

function fields(all: readonly Field[], { certain, uncertain }: typeof input): string {
  const rows = all.map(({ name, isThere, meaning }) => {
    const need = isThere ? `<span class="required">${certain}</span>` : uncertain
    return `<tr><td><code>${escaped(name)}</code></td><td>${need}</td><td>${escaped(meaning)}</td></tr>`
  })
  return `<table>${rows.join('')}</table>`
}

function errorRow(code: keyof typeof catalogue): string {
  const { status, message } = catalogue[code]
  return `<tr><td>${status}</td><td><code>${code}</code></td><td>${escaped(message)}</td></tr>`
}

function pretty(value: unknown): string {
  return escaped(JSON.stringify(value, null, 2))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
