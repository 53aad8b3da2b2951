import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Caller } from './support/caller.ts'
import { engines } from './support/engines.ts'
import { running } from './support/running.ts'
import { times } from './support/times.ts'

const runs = Number(process.env.FUZZ_RUNS ?? 120)

const oddIds = [
  '.',
  '..',
  '/',
  '%',
  '%2F',
  '?',
  '#',
  '__proto__',
  'null',
  '0',
  ' ',
  '"',
  "'",
  '\\',
  '\u{10ffff}',
  'a/../b',
]

/** Any text without control characters: what an id or a name may be. */
const idOrName = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }),
    fc.string({ unit: 'binary', minLength: 250, maxLength: 255, size: 'max' }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    fc.constantFrom(...oddIds),
  )
  .map((text) => [...text.replaceAll(/\p{Cc}/gu, '')].slice(0, 255).join(''))
  .filter((text) => text !== '')

/** Any string that JSON can write, NUL and halves of surrogate pairs among it. */
const anyText = (least: number, most: number) =>
  fc.oneof(
    fc.string({ unit: 'binary', minLength: least, maxLength: most }),
    fc.constantFrom('__proto__', 'constructor', 'toJSON', 'a\0b', '\ud800', 'x\udfff', '\u2028', '"', '\\u0000', '😀'),
  )

/** An object as text, so that any key is an own one, and none comes twice. */
function objectText(entries: readonly (readonly [key: string, text: string])[]): string {
  return `{${[...new Map(entries)].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`
}

const mapping = fc
  .array(
    fc.tuple(
      anyText(1, 60),
      anyText(1, 60).map((text) => JSON.stringify(text)),
    ),
    { maxLength: 40 },
  )
  .map(objectText)

const { properties } = fc.letrec<{ properties: string; value: string }>((tie) => ({
  properties: fc.array(fc.tuple(anyText(0, 30), tie('value')), { maxLength: 8 }).map(objectText),
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(
      anyText(0, 100).map((text) => JSON.stringify(text)),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
      fc.maxSafeInteger().map(String),
      fc.constantFrom('true', 'false', 'null', '{}', '[]', '1.50', '1E3', '0.1', '1e-7', '123456789012345'),
    ),
    fc.array(tie('value'), { maxLength: 5 }).map((values) => `[${values.join(' , ')}]`),
    tie('properties'),
  ),
}))

interface Wish {
  id: string
  name: string | undefined
  mapping: string
  properties: string
}

const wish = fc.record<Wish>({ id: idOrName, name: fc.option(idOrName, { nil: undefined }), mapping, properties })

/** So that no two runs meet: an id is made new by a prefix that is not part of what is tested. */
let made = 0
function unique(id: string): string {
  made += 1
  // With an end of its own: or else 1 and "0" would meet 10 and "".
  return [...`${made}:${id}`].slice(0, 255).join('')
}

async function record(caller: Caller, id: string) {
  const { status, body } = await caller.call('GET', `/api/user_groups/${encodeURIComponent(id)}`)
  assert.equal(status, 200, JSON.stringify({ id, body }))
  return body.user_group
}

/** Sends a wish every way there is, and holds every answer against it. */
async function sendAndCompare(caller: Caller, id: string, { name, mapping, properties }: Omit<Wish, 'id'>) {
  const fields: [string, string][] = [
    ['mapping', mapping],
    ['properties', properties],
  ]
  if (name !== undefined) fields.push(['name', JSON.stringify(name)])
  const text = objectText([['user_group_id', JSON.stringify(id)], ...fields])
  const made = await caller.call('GET', '/api/user', { text })
  assert.equal(made.status, 200, JSON.stringify(made.body))
  assert.equal(made.body.new_user_group, true)
  const { token, ...shown } = made.body.user_group
  assert.deepEqual(shown, { team_id: 1, provided_id: id, name: name ?? id })

  const kept = await record(caller, id)
  assert.deepEqual([kept.provided_id, kept.name], [id, name ?? id])
  assert.deepEqual(kept.mapping, JSON.parse(mapping))
  assert.deepEqual(kept.properties, JSON.parse(properties))
  assert.deepEqual(Object.keys(kept.properties), Object.keys(JSON.parse(properties)))

  const verified = await caller.verify(token)
  assert.equal(verified.body.user_group.provided_id, id)
  assert.deepEqual(verified.body.properties, JSON.parse(properties))
  assert.deepEqual(verified.body.unresolved ?? [], Object.keys(JSON.parse(mapping)))

  const again = await caller.call('POST', '/api/user_groups', { text })
  assert.deepEqual(again.body, { ...made.body, new_user_group: false })
}

for (const engine of engines)
  describe(`what callers send to the service on ${engine.name}`, async () => {
    const { caller } = await running(undefined, engine)

    it('comes back as it was sent, whatever the id, the name, the mapping and the properties', async () => {
      await fc.assert(
        fc.asyncProperty(wish, ({ id, ...more }) => sendAndCompare(caller, unique(id), more)),
        { numRuns: runs },
      )
    })

    it('comes back under ids that mean something to a path, an object or a database', async () => {
      for (const id of oddIds) await sendAndCompare(caller, id, { name: undefined, mapping: '{}', properties: '{}' })
    })

    it('comes back at the very limits of what is allowed', async () => {
      const longest = (index: number) => `${index}`.padEnd(255, 'é')
      const many = objectText(times(200, (index) => [longest(index), JSON.stringify(longest(index))]))
      const deep = `${'{"a":'.repeat(31)}[]${'}'.repeat(31)}`
      const large = `{"a":"${'x'.repeat(64 * 1024 - 8)}"}`
      const id = '😀'.repeat(255)
      await sendAndCompare(caller, id, { name: id, mapping: '{}', properties: deep })
      await sendAndCompare(caller, `${'x'.repeat(254)}é`, { name: 'n', mapping: '{}', properties: large })
      await sendAndCompare(caller, 'many', { name: 'n'.repeat(255), mapping: many, properties: '{}' })
    })

    it('comes back as it was changed, and what was not sent stays', async () => {
      const field = fc.oneof(
        fc.record({ field: fc.constant('name'), text: idOrName.map((text) => JSON.stringify(text)) }),
        fc.record({ field: fc.constant('mapping'), text: mapping }),
        fc.record({ field: fc.constant('properties'), text: properties }),
        fc.record({ field: fc.constant('disabled'), text: fc.constantFrom('true', 'false') }),
      )
      await caller.getOrCreate('to change')
      await fc.assert(
        fc.asyncProperty(field, async ({ field, text }) => {
          const earlier = await record(caller, 'to change')
          const body = objectText([[field, text]])
          const { status } = await caller.call('PATCH', '/api/user_groups/to%20change', { text: body })
          assert.equal(status, 200)
          const { updated_at: _, ...now } = await record(caller, 'to change')
          const { updated_at: __, ...expected } = { ...earlier, [field]: JSON.parse(text) }
          assert.deepEqual(now, expected)
        }),
        { numRuns: Math.ceil(runs / 2) },
      )
    })

    it('finds the same group by exactly the same id only', async () => {
      const twist = fc.constantFrom<(id: string) => string>(
        (id) => id.normalize('NFD'),
        (id) => id.normalize('NFKC'),
        (id) => id.toUpperCase(),
        (id) => id.toLowerCase(),
        (id) => `${id} `,
        (id) => id.trim(),
      )
      await fc.assert(
        fc.asyncProperty(idOrName, twist, async (wished, twist) => {
          const id = unique(wished)
          const other = twist(id)
          if (other === '' || [...other].length > 255) return
          const one = await caller.getOrCreate(id)
          const two = await caller.getOrCreate(other)
          assert.equal(two.body.new_user_group, other !== id, JSON.stringify({ id, other }))
          assert.equal(two.body.user_group.token === one.body.user_group.token, other === id)
        }),
        { numRuns: Math.ceil(runs / 2) },
      )
    })
  })
