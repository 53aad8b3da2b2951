import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Engine } from './engines.ts'

/** The engine, reached by a line of our own. `join` is given both ends of every connection, not yet joined. */
export function behindLine(engine: Engine, join: (near: Socket, far: Socket) => void): Engine {
  return {
    name: engine.name,
    async freshDatabase() {
      const database = await engine.freshDatabase()
      const url = new URL(database.environment.DATABASE_URL)
      const target = { port: Number(url.port), host: url.hostname }
      const line = createServer((near) => {
        const far = connect(target)
        for (const end of [near, far]) end.on('error', () => {})
        join(near, far)
      })
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
