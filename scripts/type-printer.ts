/** The part of JSON Schema that the operations use. */
export interface JsonSchema {
  title?: string
  description?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  /** Of a text that stands for one. */
  number?: object
}

const lineWidth = 120

/** Prints schemas as TypeScript, as the formatter would. A schema with a title becomes an interface of its own. */
export class TypePrinter {
  readonly #interfaces = new Map<string, string>()
  readonly #isGiven: boolean

  /** What a caller gives is only read: then it may be constant, and of a type of his own. */
  constructor({ isGiven = false } = {}) {
    this.#isGiven = isGiven
  }

  /** The interfaces of all titled schemas met so far. */
  interfaces(): string[] {
    return [...this.#interfaces.values()]
  }

  declare(name: string, schema: JsonSchema, comment?: string): string {
    const body = this.#fields(schema, '  ')
    return `${commentOn(comment, '')}export interface ${name} {\n${body}}\n`
  }

  print(schema: JsonSchema, indent: string): string {
    if (schema.title !== undefined) return this.#refer(schema.title, schema)
    return this.#members(schema, indent).join(' | ')
  }

  #refer(title: string, schema: JsonSchema): string {
    const { title: _, ...untitled } = schema
    const text = this.declare(title, untitled)
    const known = this.#interfaces.get(title)
    if (known !== undefined && known !== text) throw new Error(`two different schemas have the title ${title}`)
    this.#interfaces.set(title, text)
    return title
  }

  #members(schema: JsonSchema, indent: string): string[] {
    if (schema.const !== undefined) return [literal(schema.const)]
    if (schema.enum) return schema.enum.map(literal)
    const types = [schema.type ?? 'unknown'].flat()
    return types.map((type) => this.#plain(type, schema, indent))
  }

  #plain(type: string, schema: JsonSchema, indent: string): string {
    if (type === 'array') return `${this.#isGiven ? 'readonly ' : ''}${this.#item(schema.items ?? {}, indent)}[]`
    if (type === 'integer') return 'number'
    if (type !== 'object') return type
    if (schema.properties) return `{\n${this.#fields(schema, `${indent}  `)}${indent}}`
    const { additionalProperties: values } = schema
    if (typeof values !== 'object') return this.#isGiven ? 'object' : 'Record<string, unknown>'
    const record = `Record<string, ${this.print(values, indent)}>`
    return this.#isGiven ? `Readonly<${record}>` : record
  }

  #item(schema: JsonSchema, indent: string): string {
    const text = this.print(schema, indent)
    return text.includes(' | ') ? `(${text})` : text
  }

  #fields({ properties = {}, required = [] }: JsonSchema, indent: string): string {
    const fields = Object.entries(properties).map(([name, schema]) => {
      const isOptional = !required.includes(name)
      const union = [...(schema.title === undefined ? this.#members(schema, indent) : [this.print(schema, indent)])]
      // Said out loud, so that a caller may pass what he has or has not under exactOptionalPropertyTypes too.
      if (isOptional) union.push('undefined')
      return commentOn(schema.description, indent) + field(`${name}${isOptional ? '?' : ''}:`, union, indent)
    })
    return fields.join('')
  }
}

export function union(name: string, members: readonly string[], comment: string): string {
  return `${commentOn(comment, '')}export type ${name} =${members.map((each) => `\n  | ${literal(each)}`).join('')}\n`
}

function field(name: string, members: readonly string[], indent: string): string {
  const line = `${indent}${name} ${members.join(' | ')}`
  const fits = line.length <= lineWidth && !line.includes('\n')
  if (fits || members.length === 1) return `${line}\n`
  const lines = members.map((each) => `\n${indent}  | ${each.replaceAll('\n', '\n    ')}`)
  return `${indent}${name}${lines.join('')}\n`
}

function commentOn(text: string | undefined, indent: string): string {
  if (text === undefined) return ''
  return `${indent}/** ${text.charAt(0).toUpperCase()}${text.slice(1).replace(/(?<!\.)$/, '.')} */\n`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}
