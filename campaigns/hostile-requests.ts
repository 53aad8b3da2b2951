import { METHODS } from 'node:http'
import fc from 'fast-check'
import { jsonText, type Mutation, mutations } from '../test/support/mutations.ts'
import type { RawRequest } from '../test/support/raw-request.ts'
import type { Furnished } from '../test/team/furnish.ts'
import { type DescribedOperation, type FieldSchema, operations } from '../test/team/operations.ts'
import { numberThatLosesDigits, wrongValues } from '../test/team/wrong-values.ts'

/** What there is to be asked for, so that some requests are granted. */
export interface Known extends Furnished {
  apiToken: string
}

type Field = [name: string, text: string]

const oddKeys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', '\0', '😀', 'a.b', '"']
const oddIds = [
  ...['%', '%zz', '%00', '%ff', '%2e%2e', '..', '.', '%2F', 'a%2Fb', '%ed%a0%80', "'%20or%201=1--", '%f0%9f%98%80'],
  ...['__proto__', 'null', '-1', '1e3', '9007199254740993', '99999999999999999999', 'x'.repeat(300), 'é', '0x1', '~'],
]
const oddQueries = [
  '',
  '=',
  '&&',
  'a',
  '%',
  '%zz=1',
  'limit',
  'limit[]=1',
  'limit=1&limit=2',
  '__proto__=1',
  '?',
  '%00=%00',
]

const poolSize = 1_000
const usesOfPool = 50_000

/** Requests to every operation of openapi.json: valid, nearly valid, and spoilt in up to three more ways. */
export class HostileRequests {
  readonly #random: () => number
  readonly #values: Map<FieldSchema, string[]>
  #texts: string[] = []
  #mutations: Mutation[][] = []
  #uses = 0

  constructor(random: () => number) {
    this.#random = random
    const fields = operations.flatMap(({ body, query }) => [
      ...Object.values(body?.schema.properties ?? {}),
      ...Object.values(query),
    ])
    this.#values = new Map(fields.map((schema) => [schema, wrongValues(schema).map(jsonOf)]))
  }

  next(known: Known): RawRequest {
    if (this.#uses++ % usesOfPool === 0) this.#refill()
    const valid = this.#oddlyAsked(this.#pick(operations), known)
    if (this.#random() < 0.6) return valid
    return this.#pick(this.#mutations).reduce((spoilt, mutate) => mutate(spoilt), valid)
  }

  #refill(): void {
    const seed = Math.floor(this.#random() * 2 ** 31)
    this.#mutations = fc.sample(mutations, { seed, numRuns: poolSize })
    const anyText = fc.array(fc.nat(0x10ffff), { maxLength: 260 }).map((points) => String.fromCodePoint(...points))
    const texts = fc.oneof(jsonText, anyText.map(jsonOf), fc.json({ maxDepth: 6 }))
    this.#texts = fc.sample(texts, { seed, numRuns: poolSize })
  }

  #oddlyAsked(operation: DescribedOperation, known: Known): RawRequest {
    const body = Buffer.from(this.#body(operation, known))
    const headers: [string, string][] = [
      ['Host', 'test'],
      ['Authorization', `Token ${known.apiToken}`],
    ]
    if (operation.body) headers.push(['Content-Type', 'application/json'], ['Content-Length', String(body.length)])
    return { method: operation.method, path: this.#target(operation, known), headers, body }
  }

  #target({ path, hasId, query }: DescribedOperation, { ids }: Known): string {
    const known = encodeURIComponent(ids[path.split('/')[2] ?? ''] ?? 'acme')
    const target = hasId ? path.replace(/\{\w+\}/, () => (this.#random() < 0.5 ? known : this.#pick(oddIds))) : path
    if (this.#random() < 0.05) return `${target}?${this.#pick(oddQueries)}`
    const asked = Object.entries(query).filter(() => this.#random() < 0.5)
    if (asked.length === 0) return target
    const parameters = asked.map(([name, schema]) => `${name}=${encodeURIComponent(this.#text(schema).toWellFormed())}`)
    return `${target}?${parameters.join('&')}`
  }

  #body({ body }: DescribedOperation, { token }: Known): string {
    if (body === undefined) return ''
    const good = JSON.stringify(body.example).replaceAll(/ugt_\w{38}/g, token)
    const fields = Object.entries(JSON.parse(good)).map(([name, value]): Field => [name, jsonOf(value)])
    for (let changes = Math.floor(this.#random() * 3); changes > 0; changes--)
      this.#change(fields, body.schema.properties)
    return `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
  }

  /** A value of the schema's own or of none, a field less, one twice, or one that nobody asked for. */
  #change(fields: Field[], schemas: Record<string, FieldSchema>): void {
    const names = Object.keys(schemas)
    const name = this.#pick(names)
    const at = fields.findIndex(([known]) => known === name)
    const text = this.#text(schemas[name] ?? {})
    const way = this.#random()
    if (way < 0.6 && at >= 0) fields[at] = [name, text]
    else if (way < 0.7 && at >= 0) fields.splice(at, 1)
    else if (way < 0.9) fields.push([name, text])
    else fields.push([this.#pick(oddKeys), text])
  }

  #text(schema: FieldSchema): string {
    const ofSchema = this.#values.get(schema) ?? []
    return this.#random() < 0.5 && ofSchema.length > 0 ? this.#pick(ofSchema) : this.#pick(this.#texts)
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T
  }
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(`"${numberThatLosesDigits}"`, numberThatLosesDigits.replaceAll('@', ''))
}

const framing = /^(content-length|transfer-encoding|connection|upgrade|expect)$/i

/** Whether every reader of HTTP agrees where it ends: then others can follow on the same connection. */
export function isWellFramed({ method, path, headers, body }: RawRequest): boolean {
  const lengths = headers.filter(([name]) => framing.test(name)).map(([name, value]) => `${name}: ${value}`)
  const expected =
    body.length === 0
      ? lengths.length === 0 || lengths[0] === 'Content-Length: 0'
      : lengths[0] === `Content-Length: ${body.length}`
  return (
    lengths.length <= 1 &&
    expected &&
    METHODS.includes(method) &&
    method !== 'CONNECT' &&
    /^\/[\x21-\x7e]*$/.test(path) &&
    headers.every(([name, value]) => /^[\w-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value)) &&
    headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, path.length) < 15_000
  )
}
