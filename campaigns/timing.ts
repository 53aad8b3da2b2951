import { Connection } from '../bench/connection.ts'

/** Requests of two kinds whose answers must take equally long. */
export interface Pair {
  name: string
  one: () => string
  other: () => string
}

/** Slower ones are the machine's doing: kept, they would drown any difference. */
const kept = 0.9

/** Sends both kinds in random order over one connection, and returns Welch's t of how long their answers took. */
export async function tOf(url: string, { one, other }: Pair, samples: number, random: () => number): Promise<number> {
  // Made beforehand: what it costs us to make one must not be in the figure.
  const requests = Array.from({ length: 2 * samples }, () => {
    const kind = random() < 0.5 ? 0 : 1
    return { kind, text: kind === 0 ? one() : other() } as const
  })
  const times: [number[], number[]] = [[], []]
  const connection = new Connection(new URL(url))
  for (const { kind, text } of requests) {
    const began = performance.now()
    await connection.send(text)
    times[kind].push(performance.now() - began)
  }
  connection.close()
  const longest = times.flat().sort((a, b) => a - b)[Math.floor(2 * samples * kept)] ?? 0
  const [some, others] = times.map((all) => spread(all.filter((time) => time <= longest)))
  if (some === undefined || others === undefined) return 0
  return (some.mean - others.mean) / Math.sqrt(some.variance / some.count + others.variance / others.count)
}

function spread(values: readonly number[]): { mean: number; variance: number; count: number } {
  const count = values.length
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1)
  return { mean, variance, count }
}
