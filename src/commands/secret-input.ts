import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { OperatorError } from '../operator-error.ts'
import { say } from './terminal.ts'

const limit = 256 * 1024

/**
 * A token, from a file or standard input and never from an argument, which every user of the machine can read. No token
 * has blanks in it: with one that was copied along, a token that has leaked would seem to be nobody's.
 */
export async function readToken(file = '-'): Promise<string> {
  const isTyped = file === '-' && process.stdin.isTTY
  const token = (isTyped ? await askSecretly('Token: ') : await readSecret(file)).trim()
  if (token === '')
    throw new OperatorError('There is no token in the input.', 'Pipe it in, or name a file with --token-file.')
  return token
}

/** The text of a small file, or of standard input for `-`. */
export async function readSecret(file: string): Promise<string> {
  if (file === '-' && process.stdin.isTTY) say('Reading from the terminal; end with Ctrl-D.')
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of file === '-' ? process.stdin : createReadStream(file)) {
      parts.push(part as Buffer)
      size += (part as Buffer).length
      if (size > limit) break
    }
  } catch (error) {
    throw unreadable(file, error)
  }
  if (size > limit) throw new OperatorError('The input is larger than 256 KiB.', 'Check that it is the right file.')
  const bytes = Buffer.concat(parts)
  // Decoding would replace bad bytes, and nobody sees what became of a secret.
  if (!isUtf8(bytes))
    throw new OperatorError('The input is not text in UTF-8.', 'Save it in UTF-8, or check that it is the right file.')
  return bytes.toString()
}

export function unreadable(file: string, error: unknown): OperatorError {
  const { message } = error as Error
  return new OperatorError(`${file} cannot be read: ${message}.`, 'Check the name and the permissions.', error)
}

/** What is typed is not shown. Empty when it is ended with Ctrl-D. */
function askSecretly(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  const end = () => {
    terminal.close()
    process.stderr.write('\n')
  }
  terminal.once('SIGINT', () => {
    end()
    // With the terminal in order again, as by Ctrl-C anywhere else.
    process.kill(process.pid, 'SIGINT')
  })
  return terminal
    .question('')
    .catch(() => '')
    .finally(end)
}
