const widest = 30
const narrowest = 5
const usual = 80

interface ProgressBar {
  show(done: number, total: number): void
  end(): void
}

/** A bar on a terminal; nothing elsewhere, where it would be noise. */
export function progressBar(what: string, counted: (count: number) => string = String): ProgressBar {
  const { isTTY } = process.stderr
  return {
    show(done, total) {
      // Some terminals do not know how wide they are, and say 0.
      const columns = process.stderr.columns || usual
      if (isTTY) process.stderr.write(`\r${progressLine(what, done, total, counted, columns)}`)
    },
    end() {
      if (isTTY) process.stderr.write('\n')
    },
  }
}

/** No longer than a line of the terminal, or each would stay where it is and the next come below. */
export function progressLine(
  what: string,
  done: number,
  total: number,
  counted: (count: number) => string,
  columns: number,
): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const figures = `${Math.floor(share * 100)} % (${counted(done)} of ${counted(total)})`
  const width = Math.min(widest, columns - 1 - `${what}  ${figures}`.length)
  const bar = width < narrowest ? '' : `${'█'.repeat(Math.round(share * width)).padEnd(width, '░')} `
  return `${what} ${bar}${figures}`.slice(0, columns - 1)
}
