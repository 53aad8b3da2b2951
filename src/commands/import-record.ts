import type { Static } from 'typebox'
import { invalid, ServiceError } from '../errors.ts'
import { Flag } from '../http/fields.ts'
import { Type } from '../http/type.ts'
import { validator } from '../http/validate.ts'
import { newId } from '../ids.ts'
import { keepableJson, parseJson } from '../json.ts'
import type { ImportWish } from '../store/store.ts'
import { hasRightChecksum, visibleAscii } from '../tokens/format.ts'
import type { Tokens } from '../tokens/tokens.ts'
import { GetOrCreateIn } from '../user-groups/schema.ts'
import { counted } from './counted.ts'
import { parseCsvRecord } from './csv.ts'

const ImportIn = Type.Object({
  ...GetOrCreateIn.properties,
  disabled: Type.Optional(Flag),
  token: Type.Optional(
    Type.String({ pattern: visibleAscii.source, description: 'a string of 16 to 255 visible ASCII characters' }),
  ),
})

export type ImportRecord = Static<typeof ImportIn>

export type ReadRecord = (text: string) => ImportRecord

const validate = validator(ImportIn, 'The record')

/** A line as the body of a get-or-create, with the same rules. */
export const readJsonLine: ReadRecord = (text) => accept(parsed(text, 'The record'))

/** An empty cell is a field that is not there. */
export function csvReader(columns: readonly string[]): ReadRecord {
  return (text) => {
    const cells = parseCsvRecord(text)
    if (cells === undefined) throw invalidRecord('The record has quotes in the wrong places.')
    if (cells.length !== columns.length)
      throw invalidRecord(`The record has ${counted(cells.length, 'cell')}, and the header ${columns.length}.`)
    const fields = columns
      .map((column, index) => [column, cells[index] ?? ''] as const)
      .filter(([, cell]) => cell !== '')
    return accept(Object.fromEntries(fields.map(([column, cell]) => [column, cellValue(column, cell)])))
  }
}

function cellValue(column: string, cell: string): unknown {
  if (column === 'mapping' || column === 'properties') return parsed(cell, column)
  // In whatever case: spreadsheets write TRUE.
  if (column === 'disabled' && /^(true|false)$/i.test(cell)) return cell.toLowerCase() === 'true'
  return cell
}

function parsed(text: string, what: string): unknown {
  try {
    return parseJson(text)
  } catch {
    // Without the parser's own words: they quote the text, in which there may be a token.
    throw invalidRecord(`${what} is not valid JSON.`)
  }
}

function accept(value: unknown): ImportRecord {
  const record = validate(value)
  const { token } = record
  if (token?.startsWith('ugt_') && !hasRightChecksum(token, 'ugt_'))
    throw invalid('token', 'begins with ugt_, but was not made by this service: its checksum is wrong')
  if (token?.startsWith('uga_')) throw invalid('token', 'is an API token; a user group has one of its own')
  return record
}

export function invalidRecord(message: string): ServiceError {
  return new ServiceError('invalid_request', { message })
}

/** What the record asks for; the JSON is checked for a group that is there too, as over HTTP. */
export function wishFor(record: ImportRecord, tokens: Tokens, teamId: number, now: number): ImportWish {
  const properties = keepableJson(record.properties ?? {}, 'properties')
  const { token } = record
  const make = () => {
    const id = newId(now)
    return {
      id,
      providedId: record.user_group_id,
      name: record.name ?? record.user_group_id,
      mapping: record.mapping ?? {},
      properties,
      disabled: record.disabled ?? false,
      token:
        token === undefined ? tokens.mintForUserGroup(teamId, id, now).sealed : tokens.sealToken(token, teamId, id),
    }
  }
  const brought = token === undefined ? undefined : tokens.lookup(token)
  return { providedId: record.user_group_id, brought, make }
}
