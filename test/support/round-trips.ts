import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { pipeline } from 'node:stream'
import type { Engine } from './engines.ts'

export interface WatchedEngine extends Engine {
  /** How often something was sent to the server, with an answer to what was sent before. */
  roundTrips(): number
}

/** The engine, seen through a line that counts how often the two sides take turns. */
export function watched(engine: Engine): WatchedEngine {
  let turns = 0
  const line = createServer((near) => {
    const far = connect(target)
    let wasAnswered = true
    near.on('data', () => {
      if (wasAnswered) turns += 1
      wasAnswered = false
    })
    far.on('data', () => {
      wasAnswered = true
    })
    pipeline(near, far, near, () => {})
  })
  let target = { port: 0, host: '' }
  return {
    name: engine.name,
    roundTrips: () => turns,
    async freshDatabase() {
      const database = await engine.freshDatabase()
      const url = new URL(database.environment.DATABASE_URL)
      target = { port: Number(url.port), host: url.hostname }
      await once(line.listen(0, '127.0.0.1'), 'listening')
      url.port = String((line.address() as AddressInfo).port)
      return {
        ...database,
        environment: { ...database.environment, DATABASE_URL: url.href },
        async remove() {
          line.close()
          await database.remove()
        },
      }
    },
  }
}
