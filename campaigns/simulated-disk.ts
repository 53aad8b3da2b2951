/** What was done to the files of a folder, and what left for the network, in the order it happened. */
export type DiskEvent =
  | { does: 'create' | 'unlink' | 'flush'; file: string }
  | { does: 'link' | 'rename'; file: string; to: string }
  /** Without a place, at the end. */
  | { does: 'write'; file: string; at: number | undefined; bytes: Uint8Array }
  | { does: 'truncate'; file: string; size: number }
  | { does: 'send'; bytes: Buffer }

/** The folder's own name: flushing it makes the names in it last. */
export const theFolder = '.'

type Change = { at: number; bytes: Uint8Array } | { size: number }

interface Content {
  flushed: Uint8Array<ArrayBuffer>
  /** Since it was flushed. */
  changes: Change[]
  size: number
}

type Names = Map<string, Content>

const sector = 512
const mostBytes = 2 ** 28

/**
 * A disk as a power cut leaves it. What was flushed is there. Of all that was written since, any part of 512 bytes may
 * or may not have arrived, in any order; of the changes of names, the first few, as file systems with a journal do.
 */
export class Disk {
  readonly #flushedNames: Names = new Map()
  readonly #names: Names = new Map()
  #nameChanges: ((names: Names) => void)[] = []

  apply(event: DiskEvent): void {
    switch (event.does) {
      case 'create':
        if (!this.#names.has(event.file)) this.#name(event.file, { flushed: emptyFile(), changes: [], size: 0 })
        break
      case 'link':
        this.#name(event.to, this.#content(event.file))
        break
      case 'rename':
        this.#name(event.to, this.#content(event.file))
        this.#unname(event.file)
        break
      case 'unlink':
        this.#unname(event.file)
        break
      case 'write':
        this.#write(this.#content(event.file), event)
        break
      case 'truncate':
        this.#truncate(this.#content(event.file), event.size)
        break
      case 'flush':
        if (event.file === theFolder) this.#flushNames()
        else this.#flush(this.#content(event.file))
    }
  }

  /** The files that are left, by their names; `share` of what was not flushed survives. */
  afterPowerLoss(random: () => number, share: number): Map<string, Uint8Array> {
    const names = new Map(this.#flushedNames)
    for (const change of this.#nameChanges.slice(0, Math.round(share * this.#nameChanges.length))) change(names)
    return new Map([...names].map(([name, content]) => [name, remains(content, random, share)]))
  }

  #content(file: string): Content {
    const content = this.#names.get(file)
    if (content === undefined) throw new Error(`${file} was never made`)
    return content
  }

  #name(file: string, content: Content): void {
    this.#rename((names) => names.set(file, content))
  }

  #unname(file: string): void {
    this.#rename((names) => names.delete(file))
  }

  #rename(change: (names: Names) => void): void {
    change(this.#names)
    this.#nameChanges.push(change)
  }

  #flushNames(): void {
    for (const change of this.#nameChanges) change(this.#flushedNames)
    this.#nameChanges = []
  }

  #write(content: Content, { at = content.size, bytes }: { at?: number | undefined; bytes: Uint8Array }): void {
    content.changes.push({ at, bytes })
    content.size = Math.max(content.size, at + bytes.length)
  }

  #truncate(content: Content, size: number): void {
    content.changes.push({ size })
    content.size = size
  }

  #flush(content: Content): void {
    for (const change of content.changes) apply(content.flushed, change)
    content.changes = []
  }
}

function remains({ flushed, changes }: Content, random: () => number, share: number): Uint8Array {
  const left = emptyFile()
  apply(left, { at: 0, bytes: flushed })
  for (const part of changes.flatMap(inSectors)) if (random() < share) apply(left, part)
  return left
}

function emptyFile(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(0, { maxByteLength: mostBytes }))
}

function inSectors(change: Change): Change[] {
  if ('size' in change) return [change]
  const parts: Change[] = []
  for (let from = 0; from < change.bytes.length; ) {
    const end = Math.min(change.bytes.length, from + sector - ((change.at + from) % sector))
    parts.push({ at: change.at + from, bytes: change.bytes.subarray(from, end) })
    from = end
  }
  return parts
}

function apply(file: Uint8Array<ArrayBuffer>, change: Change): void {
  if ('size' in change) {
    file.buffer.resize(change.size)
    return
  }
  const end = change.at + change.bytes.length
  if (end > file.length) file.buffer.resize(end)
  file.set(change.bytes, change.at)
}
