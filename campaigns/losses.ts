import { copyFileSync, renameSync } from 'node:fs'

/** A file of a database that is in use goes astray. */
export interface Loss {
  name: string
  /** What was written before is still there to be read. */
  leavesReads?: true
  /** Returns how to put it back. */
  inflict(path: string): () => void
}

export const losses: readonly Loss[] = [
  {
    name: 'the database moved away',
    inflict: moveAway,
  },
  {
    name: 'its log moved away',
    leavesReads: true,
    inflict: (path) => moveAway(`${path}-wal`),
  },
  {
    name: 'its index moved away',
    inflict: (path) => moveAway(`${path}-shm`),
  },
  {
    name: 'another database in its place',
    inflict(path) {
      const putBack = moveAway(path)
      copyFileSync(`${path}.astray`, path)
      return putBack
    },
  },
]

function moveAway(path: string): () => void {
  renameSync(path, `${path}.astray`)
  return () => renameSync(`${path}.astray`, path)
}
