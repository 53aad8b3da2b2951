/** Far less than what V8 puts among its large objects: those stay until a full collection, and a list is soon done with. */
const enough = 32 * 1024

/** The JSON of an object in pieces, so that a long list in it is never one long text. */
export function inPieces(object: object): string[] {
  const pieces: string[] = []
  let piece = '{'
  const add = (text: string) => {
    piece += text
    if (piece.length < enough) return
    pieces.push(piece)
    piece = ''
  }
  for (const [index, [name, value]] of Object.entries(object).entries()) {
    add(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`)
    if (Array.isArray(value)) addList(value, add)
    else add(JSON.stringify(value))
  }
  return [...pieces, `${piece}}`]
}

function addList(list: readonly unknown[], add: (text: string) => void): void {
  add('[')
  for (const [index, item] of list.entries()) add(`${index === 0 ? '' : ','}${JSON.stringify(item)}`)
  add(']')
}
