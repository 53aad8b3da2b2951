import { table } from '../src/commands/table.ts'
import type { Circumstances } from './circumstances.ts'
import type { Floor } from './floors.ts'
import type { Effort, Figures } from './measure.ts'
import type { Population } from './workloads.ts'

export interface Results extends Circumstances, Population {
  effort: Effort
  figures: Figures[]
  /** Why, by what. */
  notMeasured: Record<string, string>
  fillSpeeds: Record<string, number>
  settings: Record<string, Record<string, string>>
  floors: Floor[]
}

const marks = [
  ['*', 'generatorWasBottleneck', 'the load generator was the bottleneck, not the server'],
  [
    '†',
    'serverWasNotSaturated',
    'the server was not saturated: it used less than 0.9 of a core for each of its processes',
  ],
  ['‡', 'generatorWasLate', 'the load generator was late itself to what was due'],
] as const

const headings = [
  ...['', '× BARE', 'CPU µs', 'BARE µs', 'DB µs', 'REQUESTS/S', 'CORES', 'BY'],
  ...['P50 ms', 'P99', 'P99.9', 'RSS MB', 'ERRORS'],
]

export function titleOf({ groups, filled, effort, machine, versions, commit }: Results): string {
  const others = filled > groups ? ` (and ${(filled - groups).toLocaleString('en')} to rotate)` : ''
  const load = `${groups.toLocaleString('en')} user groups${others}, ${effort.connections} connections`
  return `${load}; ${machine}, Node ${versions.node}, commit ${commit}`
}

export function report(results: Results): string {
  const { figures, notMeasured, fillSpeeds, floors } = results
  return [
    `${titleOf(results)}\n`,
    ...(figures.length > 0 ? [table(headings, figures.map(row))] : []),
    ...marks
      .filter(([, key]) => figures.some((figure) => figure[key]))
      .map(([mark, , meaning]) => `${mark} ${meaning}`),
    ...Object.entries(notMeasured).map(([name, reason]) => `not measured: ${name}: ${reason}`),
    ...Object.entries(fillSpeeds).map(([engine, speed]) => `${engine}: filled ${speed} groups/s`),
    ...floors.map(({ name, cpu }) => `floor, ${name}: ${cpu.toFixed(1)} µs`),
    '',
  ].join('\n')
}

function row(figure: Figures): string[] {
  const { latencies } = figure
  const marked = (value: number, ...keys: (typeof marks)[number][1][]) =>
    [value, ...marks.filter(([, key]) => keys.includes(key) && figure[key]).map(([mark]) => mark)].join(' ')
  return [
    figure.name,
    figure.ratio.toFixed(2),
    figure.cpu.toFixed(1),
    figure.bareCpu.toFixed(1),
    figure.databaseCpu?.toFixed(1) ?? '–',
    marked(figure.perSecond, 'generatorWasBottleneck', 'serverWasNotSaturated'),
    figure.cores.toFixed(2),
    figure.generator,
    String(latencies.p50),
    marked(latencies.p99, 'generatorWasLate'),
    String(latencies.p999 ?? '–'),
    String(figure.megabytes),
    String(figure.errors),
  ]
}
