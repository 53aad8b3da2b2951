import { type Command, Option } from 'commander'

const fileFormats = ['jsonl', 'csv'] as const
export type FileFormat = (typeof fileFormats)[number]

/** What there is of a user group in a file, in the order an export writes it. */
export const fileFields = ['user_group_id', 'name', 'mapping', 'properties', 'disabled', 'token'] as const

export function formatOption(): Option {
  return new Option('--format <format>', 'what the file is (default: by its ending; jsonl for -)').choices(fileFormats)
}

export function formatOf(command: Command, file: string, chosen: FileFormat | undefined): FileFormat {
  if (chosen !== undefined) return chosen
  if (/\.csv$/i.test(file)) return 'csv'
  if (file === '-' || /\.(jsonl|ndjson|json)$/i.test(file)) return 'jsonl'
  return command.error(`error: the name of ${file} does not tell its format: add --format jsonl or --format csv`)
}
