import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { isoTime } from '../clock.ts'
import { eventKinds, presentEvent } from '../events/event.ts'
import type { Events } from '../store/store.ts'
import { example, parseCount, parseLimit, type TeamOptions, withTeam } from './options.ts'
import { growingTable, table } from './table.ts'
import { print, printJson } from './terminal.ts'
import { visible } from './visible.ts'
import { teamNamed, withService } from './with-service.ts'

const pageSize = 200
const lookEvery = 500

interface EventsOptions extends TeamOptions {
  after?: number
  limit?: number
  follow?: true
}

type Shown = ReturnType<typeof presentEvent>

const headings = ['ID', 'AT', 'KIND', 'SUBJECT', 'BY']

export function addEventsCommand(program: Command): void {
  withTeam(program.command('events'), 'print them as JSON; with --follow, one to a line')
    .description('Read the audit trail of a team: who did what to which thing, when. It holds no secret.')
    .option('--after <id>', 'from behind this event (default: the newest ones)', parseCount)
    .option('--limit <count>', 'how many at most (default: 100; with --follow no limit)', parseLimit)
    .option('--follow', 'wait for more, until Ctrl-C')
    .addHelpText('after', example('ugs events --limit 20', 'ugs events --follow --json'))
    .action((options: EventsOptions) =>
      withService(async (service) => {
        const { events } = service.store.forTeam((await teamNamed(service, options.team)).id, null)
        const first = options.limit ?? 100
        const after = options.after ?? Math.max(0, (await events.newest()) - first)
        if (options.follow) return follow(events, after, options)
        const found: Shown[] = []
        for await (const page of pagesAfter(events, after, first)) found.push(...page)
        if (options.json) printJson(found)
        else print(table(headings, found.map(cells)))
      }),
    )
}

async function* pagesAfter(events: Events, position: number, limit: number): AsyncGenerator<Shown[]> {
  let last = position
  let left = limit
  while (left > 0) {
    const size = Math.min(pageSize, left)
    const page = await events.after(last, size)
    yield page.map(presentEvent)
    if (page.length < size) return
    left -= page.length
    last = page.at(-1)?.id ?? last
  }
}

/** Prints what happens as it happens, until a signal, or `limit` events. */
async function follow(events: Events, after: number, options: EventsOptions): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const lines = options.json ? jsonLines : tableLines()
  let last = after
  let left = options.limit ?? Number.POSITIVE_INFINITY
  while (!stop.signal.aborted) {
    for await (const page of pagesAfter(events, last, left)) {
      const text = lines(page)
      if (text !== '') print(text)
      last = page.at(-1)?.id ?? last
      left -= page.length
    }
    if (left <= 0) return
    await pause(lookEvery, undefined, { signal: stop.signal }).catch(() => {})
  }
}

function jsonLines(page: readonly Shown[]): string {
  return page.map((event) => visible(JSON.stringify(event))).join('\n')
}

function tableLines(): (page: readonly Shown[]) => string {
  const likely = eventKinds.map((kind) => ['99999', isoTime(0), kind])
  const more = growingTable(headings, likely)
  return (page) => more(page.map(cells))
}

function cells(event: Shown): string[] {
  const subject = event.user_group ?? event.schema ?? event.data_source ?? event.api_token_id ?? '-'
  const renamed = event.renamed_to === undefined ? '' : ` → ${event.renamed_to}`
  // An API token may have any name, that of the terminal too.
  const actor = event.api_token === null ? 'the terminal' : `token ${event.api_token}`
  return [String(event.id), event.at, event.kind, `${subject}${renamed}`, actor]
}
