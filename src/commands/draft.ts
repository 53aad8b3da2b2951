import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { link, open, rename } from 'node:fs/promises'
import { OperatorError } from '../operator-error.ts'

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const besideDatabase = ['', '-journal', '-wal', '-shm']
const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/**
 * A new file beside `target`, its owner's alone, for `use` to fill and put in place, gone when that is over. Its name is
 * like no other: who works at the same target has another, and one that a killed run has left is in nobody's way.
 */
export async function withDraft<T>(target: string, use: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${target}.${randomBytes(4).toString('hex')}.part`
  const remove = () => {
    for (const more of besideDatabase) rmSync(draft + more, { force: true })
  }
  const endBy = (signal: NodeJS.Signals) => {
    remove()
    process.kill(process.pid, signal)
  }
  await (await open(draft, 'wx', 0o600)).close()
  for (const signal of endings) process.once(signal, endBy)
  try {
    return await use(draft)
  } finally {
    for (const signal of endings) process.off(signal, endBy)
    remove()
  }
}

/** Puts a draft in place whole, and never over a file that has come meanwhile. */
export async function putInPlace(draft: string, target: string, linkTo = link): Promise<void> {
  try {
    await linkTo(draft, target).catch((error: NodeJS.ErrnoException) => {
      if (!withoutLinks.includes(error.code ?? '')) throw error
      return renameToNew(draft, target)
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw existsAlready(target, error)
  }
}

/** For a disk without links, as of a USB stick: the name is taken first, by an empty file. */
async function renameToNew(draft: string, target: string): Promise<void> {
  await (await open(target, 'wx')).close()
  await rename(draft, target)
}

export function existsAlready(target: string, cause?: unknown): OperatorError {
  return new OperatorError(`${target} exists already.`, 'Choose another name, or move it away.', cause)
}
