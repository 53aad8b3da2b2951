/** What must not turn up, by the name it is reported under. */
export type Canaries = Map<string, string | Uint8Array>

/** Which of them are in there, in which form: empty is good. */
export function sightings(canaries: Canaries, place: string | Uint8Array): string[] {
  return searchFor(canaries)(place)
}

/** The same for many places: each is passed over once, however many canaries there are. */
export function searchFor(canaries: Canaries): (place: string | Uint8Array) => string[] {
  const forms = [...canaries].flatMap(([name, secret]) =>
    [...formsOf(Buffer.from(secret as string))].map(([how, form]) => ({
      sighting: `${name} (${how})`,
      bytes: Buffer.from(form as string),
    })),
  )
  const byBeginning = Map.groupBy(forms, ({ bytes }) => bytes.readUInt32BE(0))
  // Most places in a large file are passed over by this table alone.
  const isBeginning = new Uint8Array(2 ** 16)
  for (const { bytes } of forms) isBeginning[bytes.readUInt16BE(0)] = 1
  return (place) => {
    const haystack = Buffer.from(place as string)
    const found = new Set<string>()
    for (let at = 0; at + 4 <= haystack.length; at++) {
      if (isBeginning[((haystack[at] ?? 0) << 8) | (haystack[at + 1] ?? 0)] === 0) continue
      for (const { sighting, bytes } of byBeginning.get(haystack.readUInt32BE(at)) ?? [])
        if (bytes.equals(haystack.subarray(at, at + bytes.length))) found.add(sighting)
    }
    return [...found]
  }
}

/** As it is, and in every form in which something is passed on without a second thought. */
export function formsOf(secret: Buffer): Map<string, string | Buffer> {
  const text = secret.toString()
  const forms = new Map<string, string | Buffer>([
    ['as it is', secret],
    ['hex', secret.toString('hex')],
    ['upper-case hex', secret.toString('hex').toUpperCase()],
  ])
  const escaped = [
    ['URL-encoded', encodeURIComponent(text)],
    ['JSON', JSON.stringify(text).slice(1, -1)],
  ] as const
  for (const [how, form] of escaped) if (form !== text) forms.set(how, form)
  for (const offset of [0, 1, 2])
    for (const encoding of ['base64', 'base64url'] as const)
      forms.set(`${encoding} behind ${offset} bytes`, base64Inside(secret, offset, encoding))
  return forms
}

/** The characters that do not depend on what stands before and behind, however the three bytes a group fall. */
function base64Inside(secret: Buffer, offset: number, encoding: 'base64' | 'base64url'): string {
  const whole = Buffer.concat([Buffer.alloc(offset), secret])
    .toString(encoding)
    .replaceAll('=', '')
  const isCut = ((offset + secret.length) * 8) % 6 !== 0
  return whole.slice(Math.ceil((offset * 8) / 6), isCut ? -1 : undefined)
}
