import { behindLine } from './behind-line.ts'
import type { Engine } from './engines.ts'

export interface WatchedEngine extends Engine {
  /** How often something was sent to the server, with an answer to what was sent before. */
  roundTrips(): number
}

/** The engine, seen through a line that counts how often the two sides take turns. */
export function watched(engine: Engine): WatchedEngine {
  let turns = 0
  const seen = behindLine(engine, (near, far) => {
    let wasAnswered = true
    near.on('data', () => {
      if (wasAnswered) turns += 1
      wasAnswered = false
    })
    far.on('data', () => {
      wasAnswered = true
    })
    near.pipe(far).pipe(near)
  })
  return { ...seen, roundTrips: () => turns }
}
