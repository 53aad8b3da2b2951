import cluster from 'node:cluster'
import type { Registry } from 'prom-client'
import { explanation } from './explain.ts'
import type { Figures } from './figures.ts'
import { heartbeat, type Message } from './supervise.ts'

/** A worker says that it is alive, hands its figures over, asks for everybody's, and stops when told to or left alone. */
export function askSupervisor(registry: Registry) {
  const stopped = Promise.withResolvers<void>()
  const waiting = new Map<number, (text: string) => void>()
  let questions = 0
  process.on('message', async (message: Message) => {
    if (message.kind === 'stop') stopped.resolve()
    if (message.kind === 'ask_figures')
      tell({ kind: 'figures', id: message.id, figures: (await registry.getMetricsAsJSON()) as Figures })
    if (message.kind === 'metrics') {
      waiting.get(message.id)?.(message.text)
      waiting.delete(message.id)
    }
  })
  setInterval(() => tell({ kind: 'alive' }), heartbeat).unref()
  cluster.worker?.once('disconnect', () => {
    // Otherwise Node ends the process at once, with all that is under way in it.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
    stopped.resolve()
  })
  return {
    stopped: stopped.promise,
    collectMetrics: () => {
      const id = ++questions
      return new Promise<string>((resolve) => {
        waiting.set(id, resolve)
        tell({ kind: 'ask_metrics', id })
      })
    },
  }
}

/** A start that fails is the supervisor's to explain. */
export async function reportFailure(error: unknown): Promise<never> {
  await new Promise((told) => process.send?.({ kind: 'failed', ...explanation(error) } satisfies Message, told))
  process.exit(1)
}

/** Whether the supervisor is there to hear it or not. */
function tell(message: Message): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
