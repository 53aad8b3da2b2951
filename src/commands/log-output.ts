import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { isatty } from 'node:tty'

const mostWaiting = 2 ** 20
const tryAgainAfter = 100

/** Takes a line, and returns what it cannot take at the moment. */
type Take = (line: string) => string

/**
 * Where the log goes. That it cannot be written is no reason to stop serving: what a full disk or a reader who has fallen
 * behind does not take waits, up to a mebibyte, and is tried again. What is beyond that is lost, and counted.
 */
export class LogOutput {
  readonly #take: Take
  readonly #onLost: (lines: number) => void
  readonly #waiting: string[] = []
  #length = 0
  #lost = 0
  #isStuck = false

  constructor(take: Take, onLost: (lines: number) => void) {
    this.#take = take
    this.#onLost = onLost
    process.once('exit', () => this.#deliver())
  }

  write(line: string): void {
    if (this.#length + line.length > mostWaiting) this.#lost += 1
    else {
      this.#waiting.push(line)
      this.#length += line.length
    }
    if (!this.#isStuck) this.#passOn()
  }

  #passOn(): void {
    this.#deliver()
    this.#isStuck = this.#waiting.length > 0
    if (this.#isStuck) setTimeout(() => this.#passOn(), tryAgainAfter).unref()
    else if (this.#lost > 0) {
      const lost = this.#lost
      this.#lost = 0
      this.#onLost(lost)
    }
  }

  #deliver(): void {
    for (let line = this.#waiting[0]; line !== undefined; line = this.#waiting[0]) {
      const left = this.#take(line)
      this.#length -= line.length - left.length
      if (left !== '') {
        this.#waiting[0] = left
        return
      }
      this.#waiting.shift()
    }
  }
}

/**
 * Standard output. A pipe, a socket or a terminal is written to without waiting for its reader; a file takes what there is
 * room for.
 */
export function toStandardOutput(): Take {
  const output = fstatSync(1)
  if (output.isFIFO() || output.isSocket()) return toStream(process.stdout)
  return toFile(isatty(1) ? openTerminal() : 1)
}

/** Opened anew: that writes do not wait while it is stopped with Ctrl-S would otherwise hold for all who have it open. */
function openTerminal(): number {
  try {
    return openSync('/dev/stdout', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return 1
  }
}

function toStream(stream: Writable): Take {
  // Whoever reads it may go away.
  stream.on('error', () => {})
  return (line) => {
    if (stream.writableLength > 0) return line
    stream.write(line)
    return ''
  }
}

function toFile(file: number): Take {
  return (line) => {
    try {
      const written = writeSync(file, line)
      return written === Buffer.byteLength(line) ? '' : Buffer.from(line).subarray(written).toString()
    } catch {
      return line
    }
  }
}
