export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
}

export const systemClock: Clock = { now: Date.now }

/** As times are written on the wire. */
export function isoTime(time: number): string {
  return new Date(time).toISOString()
}

export function isoTimeOrNull(time: number | null): string | null {
  return time === null ? null : isoTime(time)
}
