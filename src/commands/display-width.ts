/** Marks on the letter before, what joins letters, and the later parts of a Korean syllable. */
const zeroWidth = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/gu

/** The blocks that Unicode calls East Asian Wide or Fullwidth, but for rare scripts of old, and emoji. */
const doubleWidth =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/gu

const flag = /\p{RI}{2}/gu

/** How many places of a terminal a text takes. */
export function displayWidth(text: string): number {
  return [...text.replace(zeroWidth, '').replace(flag, 'xx').replace(doubleWidth, 'xx')].length
}
