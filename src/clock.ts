export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
}

export const systemClock: Clock = { now: Date.now }

/** As times are written on the wire. */
export function isoTime(time: number): string {
  return new Date(time).toISOString()
}

/** A time as RFC 3339 writes it, with whatever offset; undefined for any other text. */
export function timeOf(text: string): number | undefined {
  const [, clock = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  const shown = Date.parse(`${clock}Z`)
  const time = Date.parse(text)
  // Date.parse takes 30 February for 2 March.
  const exists = !Number.isNaN(shown) && isoTime(shown).startsWith(clock)
  // An offset may lead out of the years of four digits.
  return exists && !Number.isNaN(time) && isoTime(time).length === isoTime(0).length ? time : undefined
}

export function isoTimeOrNull(time: number | null): string | null {
  return time === null ? null : isoTime(time)
}
