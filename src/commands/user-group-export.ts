import { createWriteStream, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { OperatorError } from '../operator-error.ts'
import type { Service } from '../service.ts'
import type { UserGroupWithToken } from '../store/store.ts'
import { SealError } from '../tokens/key-ring.ts'
import type { UserGroupRecord } from '../user-groups/user-group.ts'
import { counted } from './counted.ts'
import { csvRecord } from './csv.ts'
import { leftOut } from './damaged.ts'
import { existsAlready, putInPlace, withDraft } from './draft.ts'
import { explain } from './explain.ts'
import type { ImportRecord } from './import-record.ts'
import { example, type TeamOptions, withTeam } from './options.ts'
import { progressBar } from './progress-bar.ts'
import { print, printJson, say } from './terminal.ts'
import { type FileFormat, fileFields, formatOf, formatOption } from './user-group-file.ts'
import { teamNamed, withService } from './with-service.ts'

const pageSize = 1_000

interface ExportOptions extends TeamOptions {
  format?: FileFormat
  withTokens?: true
}

export function addUserGroupExport(userGroup: Command): void {
  withTeam(userGroup.command('export'), 'print the summary as JSON (not with -)')
    .description('Write the user groups of a team to a file that "ugs user-group import" reads.')
    .argument('<file>', 'where to; it must not exist yet. - for standard output')
    .addOption(formatOption())
    .option('--with-tokens', 'with their current tokens in the clear: keep the file as a secret')
    .addHelpText(
      'after',
      `
Groups that change meanwhile are written as they were before or after. The file can be read by you alone.
With tokens, a group whose stored token does not open is left out and named; the exit status is then 1.
${example('ugs user-group export customers.jsonl')}`,
    )
    .action(async (file: string, options: ExportOptions, command: Command) => {
      const format = formatOf(command, file, options.format)
      await withService(async (service) => {
        const lines = new ExportedLines(service, (await teamNamed(service, options.team)).id, format, options)
        if (file === '-') await pipeToStdout(lines)
        else {
          await writeNewFile(resolve(file), lines)
          if (options.json) printJson({ file: resolve(file), exported: lines.count })
          else print(`${counted(lines.count, 'user group')} exported to ${resolve(file)}.`)
        }
        if (lines.damaged.length === 0) return
        say(explain(leftOut(lines.damaged, options.team)))
        process.exitCode = 1
      })
    })
}

/** The file's text, a page of groups at a time. */
class ExportedLines implements AsyncIterable<string> {
  count = 0
  /** Groups whose token does not open: without it they would get another one elsewhere, so they are left out. */
  readonly damaged: string[] = []
  readonly #service: Service
  readonly #teamId: number
  readonly #withTokens: boolean
  readonly #format: FileFormat

  constructor(service: Service, teamId: number, format: FileFormat, { withTokens }: ExportOptions) {
    this.#service = service
    this.#teamId = teamId
    this.#format = format
    this.#withTokens = withTokens === true
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    const { userGroups } = this.#service.store.forTeam(this.#teamId, null)
    const columns = fileFields.filter((field) => field !== 'token' || this.#withTokens)
    const total = await userGroups.count()
    const bar = progressBar('Exporting')
    try {
      if (this.#format === 'csv') yield `${csvRecord(columns)}\n`
      for (let after: number | null = 0; after !== null; ) {
        const { records, next }: { records: ImportRecord[]; next: number | null } = await this.#page(after)
        const lines = records.map((record) =>
          this.#format === 'csv' ? csvLine(record, columns) : JSON.stringify(record),
        )
        if (lines.length > 0) yield `${lines.join('\n')}\n`
        this.count += lines.length
        bar.show(this.count, Math.max(total, this.count))
        after = next
      }
    } finally {
      bar.end()
    }
  }

  async #page(after: number): Promise<{ records: ImportRecord[]; next: number | null }> {
    const { userGroups } = this.#service.store.forTeam(this.#teamId, null)
    const query = { after, limit: pageSize }
    if (!this.#withTokens) {
      const { items, next } = await userGroups.list(query)
      return { records: items.map(importRecord), next }
    }
    const { items, next } = await userGroups.listWithTokens(query)
    return { records: items.flatMap((group) => this.#withToken(group)), next }
  }

  #withToken(group: UserGroupWithToken): ImportRecord[] {
    try {
      return [{ ...importRecord(group), token: this.#service.tokens.openToken(group) }]
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      this.damaged.push(group.providedId)
      return []
    }
  }
}

function importRecord({ providedId, name, mapping, properties, disabled }: UserGroupRecord): ImportRecord {
  return { user_group_id: providedId, name, mapping, properties, ...(disabled && { disabled }) }
}

function csvLine(record: ImportRecord, columns: readonly (keyof ImportRecord)[]): string {
  return csvRecord(
    columns.map((column) => {
      const value = record[column]
      return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
    }),
  )
}

/** Whoever reads it may have seen enough and hang up, as head does. */
async function pipeToStdout(lines: ExportedLines): Promise<void> {
  await pipeline(Readable.from(lines), process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw failed(error)
  })
}

/** Made aside and put in place then: the file is there whole, or not at all. */
async function writeNewFile(target: string, lines: ExportedLines): Promise<void> {
  if (existsSync(target)) throw existsAlready(target)
  try {
    await withDraft(target, async (draft) => {
      await pipeline(Readable.from(lines), createWriteStream(draft, { flush: true }))
      await putInPlace(draft, target)
    })
  } catch (error) {
    throw failed(error as NodeJS.ErrnoException)
  }
}

function failed(error: NodeJS.ErrnoException): Error {
  if (error.syscall === undefined) return error
  const remedy = 'Check that the folder exists, is writable and has room.'
  return new OperatorError(`The export failed: ${error.message}.`, remedy, error)
}
