export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
}

export const systemClock: Clock = { now: Date.now }

/** As times are written on the wire. */
export function isoTime(time: number): string {
  return new Date(time).toISOString()
}

/** The same backwards, to the millisecond at most; undefined for any other text. */
export function timeOf(text: string): number | undefined {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse takes 30 February for 2 March.
  return Number.isNaN(time) || !isoTime(time).startsWith(text.slice(0, 10)) ? undefined : time
}

export function isoTimeOrNull(time: number | null): string | null {
  return time === null ? null : isoTime(time)
}
