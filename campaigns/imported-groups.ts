import assert from 'node:assert/strict'
import { startReading } from '../test/support/command.ts'
import type { TrackedGroup } from '../test/support/load.ts'
import type { Environment } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'

const atOnce = 20_000

/** Groups by the million, whose tokens need not be remembered. */
export const imported = {
  id: (index: number) => `imported ${index}`,
  token: (index: number) => `token-of-imported-${index}`,
  /** Every tenth of the first ones is rotated by a load; the others keep their token. */
  isBusy: (index: number) => index % 10 === 0 && index < 10_000,
  quiet: (index: number) => (imported.isBusy(index) ? index + 1 : index),
  indexOf(id: string): number | undefined {
    const digits = /^imported (\d+)$/.exec(id)?.[1]
    return digits === undefined ? undefined : Number(digits)
  },
  busyGroups: (size: number): TrackedGroup[] =>
    times(Math.ceil(Math.min(size, 10_000) / 10), (tenth) => {
      return { id: imported.id(tenth * 10), token: imported.token(tenth * 10), former: [], pending: false }
    }),
}

export async function importGroups(
  environment: Environment,
  size: number,
  onProgress: (done: number) => void,
): Promise<void> {
  for (let from = 0; from < size; from += atOnce) {
    const count = Math.min(size - from, atOnce)
    const lines = times(count, (i) =>
      JSON.stringify({ user_group_id: imported.id(from + i), token: imported.token(from + i) }),
    )
    const { code, stderr } = await startReading(`${lines.join('\n')}\n`, environment, 'user-group', 'import', '-').ended
    assert.equal(code, 0, stderr)
    onProgress(from + count)
  }
}
