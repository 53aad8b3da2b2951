/** What must not turn up, by the name it is reported under. */
export type Canaries = Map<string, string | Uint8Array>

/** Which of them are in there, in which form: empty is good. */
export function sightings(canaries: Canaries, place: string | Uint8Array): string[] {
  const haystack = Buffer.from(place as string)
  return [...canaries].flatMap(([name, secret]) =>
    [...formsOf(Buffer.from(secret as string))]
      .filter(([, form]) => haystack.includes(form))
      .map(([how]) => `${name} (${how})`),
  )
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
