export interface Team {
  id: number
  name: string
  /** Refuses a mapping to a data source that does not exist. */
  strictMapping: boolean
  createdAt: number
}

export interface TeamChange {
  name?: string
  strictMapping?: boolean
}

export function presentTeam({ id, name, strictMapping }: Team) {
  return { id, name, strict_mapping: strictMapping }
}
