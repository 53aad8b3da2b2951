import { type Operation, replySchema } from '../src/http/operation.ts'
import { type JsonSchema, TypePrinter, union } from './type-printer.ts'

/** The client's types.ts: made from the schemas the service itself checks with. */
export function clientTypes(operations: readonly Operation[], errorCodes: readonly string[]): string {
  const given = new TypePrinter({ isGiven: true })
  const answered = new TypePrinter()
  const answers = new Map<object, string>()
  const own: string[] = []
  for (const declared of operations) {
    const name = pascalCase(declared.id)
    const { body, query } = declared.scope === null ? {} : declared
    if (body) {
      const schema = plain(body)
      if (schema.title === undefined) own.push(given.declare(`${name}Request`, schema, declared.summary))
      else given.print(schema, '')
    }
    if (query) own.push(given.declare(`${name}Query`, asGiven(plain(query)), declared.summary))
    // Two operations that give the same answer share its type.
    if (answers.has(declared.reply)) continue
    answers.set(declared.reply, name)
    own.push(answered.declare(`${name}Answer`, plain(replySchema(declared)), declared.summary))
  }
  return [
    '// Made from the operations of the service by "npm run generate"; do not change it here.\n',
    union('ErrorCode', errorCodes, 'Every code the service answers a failed call with'),
    ...given.interfaces(),
    ...answered.interfaces(),
    ...own,
  ].join('\n')
}

/** A query is text on the wire; a number may be given as one, and a next_cursor as it came. */
function asGiven(query: JsonSchema): JsonSchema {
  const fields = Object.entries(query.properties ?? {}).map(([name, field]) => {
    const isCursor = field.description?.includes('next_cursor')
    const types = ['string', ...(field.number ? ['number'] : []), ...(isCursor ? ['null'] : [])]
    return [name, types.length > 1 ? { ...field, type: types } : field] as const
  })
  return { ...query, properties: Object.fromEntries(fields) }
}

function pascalCase(id: string): string {
  return id.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function plain(schema: unknown): JsonSchema {
  return JSON.parse(JSON.stringify(schema))
}
