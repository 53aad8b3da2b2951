import { isoTime } from '../clock.ts'
import { ServiceError } from '../errors.ts'

/** A shape of data that dashboards are built on; each user group maps it to a data source of its own. */
export interface DataSchema {
  id: string
  name: string
  createdAt: number
}

export function noSchema(): ServiceError {
  return new ServiceError('not_found', { message: 'This team has no schema with that id.' })
}

export function presentSchema({ id, name, createdAt }: DataSchema) {
  return { id, name, created_at: isoTime(createdAt) }
}
