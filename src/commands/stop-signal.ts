import { explain } from './explain.ts'
import { say } from './terminal.ts'

// npm passes Ctrl-C on to a process that the terminal has already told: that is one request to stop, not two.
const echo = 100

/** The first signal, or `alsoOn`, stops in good order and exits 0; a second one exits at once. */
export function onStopSignal(stop: () => Promise<void>, alsoOn?: Promise<void>): void {
  let since: number | undefined
  const begin = async () => {
    if (since !== undefined) return
    since = performance.now()
    try {
      await stop()
      process.exit(0)
    } catch (error) {
      say(explain(error))
      process.exit(1)
    }
  }
  const onSignal = () => {
    if (since !== undefined && performance.now() - since > echo) process.exit(1)
    void begin()
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  void alsoOn?.then(begin)
}
