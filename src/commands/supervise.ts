import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { OperatorError } from '../operator-error.ts'
import { explain } from './explain.ts'
import { type Figures, FiguresOfAll } from './figures.ts'
import { say } from './terminal.ts'

const shortestPause = 100
const longestPause = 30_000
/** A worker that lived this long was healthy: the next crash starts over with the shortest pause. */
const healthyAfter = 60_000
const collectPatience = 2_000
/** How often a worker says that it is alive, and how often in a row it may fail to before it is taken for hung. */
export const heartbeat = 1_000
const mostMissed = 15

/** What the supervisor and its workers say to each other. */
export type Message =
  | { kind: 'stop' }
  | { kind: 'alive' }
  | { kind: 'failed'; sentence: string; remedy: string }
  | { kind: 'ask_figures'; id: number }
  | { kind: 'figures'; id: number; figures: Figures }
  | { kind: 'ask_metrics'; id: number }
  | { kind: 'metrics'; id: number; text: string }

interface Supervision {
  /** The port, once every worker listens on it. */
  listening: Promise<number>
  metricsContentType: string
  collectMetrics(): Promise<string>
  stop(): Promise<void>
}

/** Keeps `count` workers alive on one port, replacing those that crash or hang, after a growing pause. */
export function supervise(count: number, log: Logger): Supervision {
  let stopping = false
  let pause = shortestPause
  const listening = Promise.withResolvers<number>()
  const ready = new Set<number>()
  const missed = new Map<Worker, number>()
  const figures = new FiguresOfAll()
  const isStarting = () => ready.size < count

  const fork = () => {
    const worker = cluster.fork()
    figures.begin(worker.id)
    const started = performance.now()
    worker.once('listening', ({ port }) => {
      ready.add(worker.id)
      missed.set(worker, 0)
      if (!isStarting()) listening.resolve(port)
    })
    worker.on('message', (message: Message) => {
      missed.set(worker, 0)
      if (message.kind !== 'failed') return void answer(worker, message)
      if (!isStarting()) log.error({ reason: message.sentence }, 'worker could not start')
      else giveUp(new OperatorError(message.sentence, message.remedy))
    })
    const end = (code: number | string, signal: string | null) => {
      figures.end(worker.id)
      missed.delete(worker)
      if (stopping) return
      if (isStarting() && code !== 0) giveUp(signal === null ? undefined : endedBy(signal))
      if (performance.now() - started > healthyAfter) pause = shortestPause
      log.error({ code, signal, pause_ms: pause }, 'worker died, starting another')
      setTimeout(() => stopping || fork(), pause)
      pause = Math.min(pause * 2, longestPause)
    }
    worker.once('exit', end)
    worker.once('error', (error: NodeJS.ErrnoException) => {
      // There is no process that could exit: the system had no room for one, or its program is being replaced.
      if (worker.process.pid === undefined) end(error.code ?? error.message, null)
    })
  }
  for (let i = 0; i < count; i++) fork()

  // Counted, not timed: a machine that was asleep has not heard of anybody either.
  setInterval(() => {
    for (const [worker, count] of missed) {
      missed.set(worker, count + 1)
      if (count < mostMissed) continue
      log.error({ worker: worker.process.pid }, 'worker hangs, ending it')
      worker.process.kill('SIGKILL')
    }
  }, heartbeat).unref()

  const collectMetrics = async () => {
    await Promise.all(alive().map(askFigures))
    return figures.metrics()
  }
  const answer = async (worker: Worker, message: Message) => {
    if (message.kind === 'figures') {
      figures.note(worker.id, message.figures)
      awaited.get(message.id)?.()
    }
    if (message.kind === 'ask_metrics') send(worker, { kind: 'metrics', id: message.id, text: await collectMetrics() })
  }

  return {
    listening: listening.promise,
    metricsContentType: new Registry().contentType,
    collectMetrics,
    async stop() {
      stopping = true
      // Before all have stopped it is a second signal that ends this process: none of them is to go on without it.
      process.once('exit', endAll)
      const exits = alive().map((worker) => once(worker, 'exit'))
      for (const worker of alive()) {
        if (ready.has(worker.id)) send(worker, { kind: 'stop' })
        // One that is starting does not listen yet, and would never know.
        else worker.process.kill()
      }
      await Promise.all(exits)
    },
  }
}

/** Before the first greeting there is nobody to serve: what stops one worker stops the start, said once for all. */
function giveUp(error?: OperatorError): never {
  if (error !== undefined) say(explain(error))
  // One that is left alone as it starts complains of that with a stack.
  endAll()
  process.exit(1)
}

function endAll(): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
}

function endedBy(signal: string): OperatorError {
  return new OperatorError(
    `A worker was ended by ${signal} as it started.`,
    'Check that there is memory enough for all of UGS_WORKERS, and start again.',
  )
}

function alive(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true) as Worker[]
}

let questions = 0
/** Those who wait for figures, by question. Not a listener each: many may ask at once, and Node warns of more than ten. */
const awaited = new Map<number, () => void>()

/** Waits for the figures of one worker, unless it is too busy, or gone. */
function askFigures(worker: Worker): Promise<void> {
  const id = ++questions
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer)
      awaited.delete(id)
      resolve()
    }
    const timer = setTimeout(settle, collectPatience)
    awaited.set(id, settle)
    send(worker, { kind: 'ask_figures', id })
  })
}

/** One that has just died hears nothing of it: without somebody to tell, Node would end the supervisor for that. */
function send(worker: Worker, message: Message): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
