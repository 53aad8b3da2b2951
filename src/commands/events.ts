import { setTimeout as pause } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { isoTime } from '../clock.ts'
import { type AuditEvent, type EventKind, eventKinds, presentEvent } from '../events/event.ts'
import { given } from '../http/fields.ts'
import type { EventQuery, Events } from '../store/store.ts'
import { cells, headings, type Shown } from './event-line.ts'
import { example, parseCount, parseId, parseLimit, parseName, type TeamOptions, withTeam } from './options.ts'
import { growingTable, table } from './table.ts'
import { print, printJson } from './terminal.ts'
import { visible } from './visible.ts'
import { teamNamed, withService } from './with-service.ts'

const pageSize = 200
const lookEvery = 500

interface EventsOptions extends TeamOptions {
  after?: number
  limit?: number
  userGroup?: string
  kind?: EventKind
  by?: number
  follow?: true
}

type Filter = Pick<EventQuery, 'userGroup' | 'kind' | 'apiTokenId'>

export function addEventsCommand(program: Command): void {
  withTeam(program.command('events'), 'print them as JSON; with --follow, one to a line')
    .description('Read the audit trail of a team: who did what to which thing, when. It holds no secret.')
    .option('--after <id>', 'from behind this event (default: the newest ones)', parseCount)
    .option('--limit <count>', 'how many at most (default: 100; with --follow no limit)', parseLimit)
    .option('--user-group <id>', 'only those of this user group, by the id it had then', parseName)
    .addOption(new Option('--kind <kind>', 'only those of this kind').choices(eventKinds))
    .option('--by <id>', 'only what this API token did; by its name before ids were recorded', parseId)
    .option('--follow', 'wait for more, until Ctrl-C')
    .addHelpText(
      'after',
      example('ugs events --limit 20', 'ugs events --user-group acme', 'ugs events --follow --json'),
    )
    .action((options: EventsOptions) =>
      withService(async (service) => {
        const { events } = service.store.forTeam((await teamNamed(service, options.team)).id, null)
        const first = options.limit ?? 100
        const filter = filterOf(options)
        const after = options.after ?? (await behindAllBut(first, events, filter))
        if (options.follow) return follow(events, after, filter, options)
        const found: Shown[] = []
        for await (const page of pages(events, { ...filter, after }, first)) found.push(...page.map(presentEvent))
        if (options.json) printJson(found)
        else print(table(headings, found.map(cells)))
      }),
    )
}

function filterOf({ userGroup, kind, by }: EventsOptions): Filter {
  return given({ userGroup, kind, apiTokenId: by })
}

async function* pages(events: Events, query: Omit<EventQuery, 'limit'>, limit: number): AsyncGenerator<AuditEvent[]> {
  let place = query.after
  for (let left = limit; left > 0; ) {
    const size = Math.min(pageSize, left)
    const { items, next } = await events.list({ ...query, ...given({ after: place }), limit: size })
    yield items
    if (next === null) return
    left -= items.length
    place = next
  }
}

/** Where the newest so many begin. */
async function behindAllBut(count: number, events: Events, filter: Filter): Promise<number> {
  let first = (await events.newest()) + 1
  for await (const page of pages(events, { ...filter, order: 'desc' }, count)) first = page.at(-1)?.id ?? first
  return first - 1
}

/** Prints what happens as it happens, until a signal, or `limit` events. */
async function follow(events: Events, after: number, filter: Filter, options: EventsOptions): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const lines = options.json ? jsonLines : tableLines()
  let last = after
  let left = options.limit ?? Number.POSITIVE_INFINITY
  while (!stop.signal.aborted) {
    const newest = await events.newest()
    for await (const page of pages(events, { ...filter, after: last }, left)) {
      const text = lines(page.map(presentEvent))
      if (text !== '') print(text)
      last = page.at(-1)?.id ?? last
      left -= page.length
    }
    if (left <= 0) return
    last = Math.max(last, newest)
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
