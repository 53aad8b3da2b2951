import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { root } from './markdown.ts'

/** One shell that a reader types into: what a line exports, the next one sees. The first failure ends it. */
export class Shell {
  readonly #process
  #stdout = ''
  #stderr = ''
  #onNews: () => void = () => {}

  constructor(environment: Record<string, string | undefined>) {
    this.#process = spawn('sh', ['-e'], { cwd: root, env: environment, stdio: 'pipe' })
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
      this.#onNews()
    })
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    this.#process.once('close', () => this.#onNews())
  }

  /** What the lines write to their standard output. */
  async run(lines: string): Promise<string> {
    const mark = `<${performance.now()}>`
    this.#stdout = ''
    this.#stderr = ''
    this.#process.stdin.write(`{\n${lines}\n} </dev/null\nprintf '%s' '${mark}'\n`)
    while (!this.#stdout.endsWith(mark)) {
      if (this.#process.exitCode !== null) throw new Error(`the shell ended at:\n${lines}\n${this.#stderr}`)
      await new Promise<void>((resolve) => {
        this.#onNews = resolve
      })
    }
    return this.#stdout.slice(0, -mark.length)
  }

  /** The exported variables. */
  async environment(): Promise<Record<string, string>> {
    return JSON.parse(await this.run(`'${process.execPath}' -p 'JSON.stringify(process.env)'`))
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const closed = once(this.#process, 'close')
    this.#process.stdin.end()
    await closed
  }
}
