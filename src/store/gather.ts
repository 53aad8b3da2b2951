/** Of the event loop: those who have just been answered ask again within them. */
const turns = 3

/** Waits for more to share the next commit or round trip, a small part of what that takes. */
export async function gather(): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
}
