/** DEL and what controls a terminal in eight bits; what turns the order of a text around, up to the end of its line. */
const acting = /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g

/** A text of others that acts on nobody's terminal. Within JSON it stays the same text. */
export function visible(text: string): string {
  return text.replaceAll(acting, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
