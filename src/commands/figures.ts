import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client'

/** The metrics of one process, as it hands them over. */
export type Figures = MetricObjectWithValues<MetricValue<string>>[]

/**
 * The figures of several workers together. What counts up must never fall, or Prometheus takes it for a restart and adds
 * all of it once more: a worker that is too busy to answer counts with what it said last, and what one has counted
 * outlives it. All that have ended make one set, so that a crash loop does not fill the memory.
 */
export class FiguresOfAll {
  readonly #living = new Map<number, Figures>()
  #ended: Figures = []

  begin(worker: number): void {
    this.#living.set(worker, [])
  }

  /** What arrives behind the end of its worker is left out: that one has been added up. */
  note(worker: number, figures: Figures): void {
    if (this.#living.has(worker)) this.#living.set(worker, figures)
  }

  end(worker: number): void {
    const counted = this.#living.get(worker)?.filter(countsUp) ?? []
    this.#living.delete(worker)
    this.#ended = sum([this.#ended, counted]).getMetricsAsArray() as Figures
  }

  metrics(): Promise<string> {
    return sum([...this.#living.values(), this.#ended]).metrics()
  }
}

/** A gauge tells of its process, and ends with it. */
function countsUp({ type }: Figures[number]): boolean {
  return ['counter', 'histogram'].includes(String(type))
}

function sum(figures: readonly Figures[]) {
  return AggregatorRegistry.aggregate([...figures])
}
