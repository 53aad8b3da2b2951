import type { Workload } from './requests.ts'
import { apiToken } from './servers.ts'

/** What the database is filled with, and who of that is asked for. */
export interface Population {
  groups: number
  /** So many are asked for over and over. */
  hot: number
  /** Those and others: what is rotated is never verified as it was filled in, so it takes others. */
  filled: number
}

const mostHot = 10_000

export function populationOf(groups: number, connections: number): Population {
  const hot = Math.min(groups, mostHot)
  // Each connection has a token under way.
  return { groups, hot, filled: Math.max(groups, hot + Math.max(hot, connections)) }
}

export function workloads(engine: string, workers: number, { groups, hot, filled }: Population): Workload[] {
  const all = { apiToken, spread: hot, rotating: { from: hot, to: filled } }
  const often = `${hot.toLocaleString('en')} hot`
  const any = `any of ${groups.toLocaleString('en')}`
  const lookUp: Workload = { ...all, name: `look-up, ${often}`, operation: 'lookup' }
  const verify: Workload = { ...all, name: `verify, ${often}`, operation: 'verify' }
  const writes: Workload[] = [
    { ...all, name: 'create', operation: 'create' },
    { ...all, name: 'rotate', operation: 'rotate' },
    { ...all, name: `mix 90/5/5, ${often}`, operation: 'mix' },
  ]
  // SQLite has one writer at a time, however many processes there are.
  if (workers > 1) return [lookUp, verify, ...(engine === 'PostgreSQL' ? writes : [])]
  const cold: Workload[] = [
    { ...lookUp, name: `look-up, ${any}`, spread: groups },
    { ...verify, name: `verify, ${any}`, spread: groups },
  ]
  return [
    lookUp,
    verify,
    { ...lookUp, name: `look-up, ${often}, a connection each`, ownConnection: true },
    ...(groups > hot ? cold : []),
    ...writes,
  ]
}
