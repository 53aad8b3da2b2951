import { createApiToken } from './api-tokens/create.ts'
import { listApiTokens } from './api-tokens/list.ts'
import { revokeApiToken } from './api-tokens/revoke.ts'
import { createDataSource } from './data-sources/create.ts'
import { deleteDataSource } from './data-sources/delete.ts'
import { getDataSource } from './data-sources/get.ts'
import { listDataSources } from './data-sources/list.ts'
import { updateDataSource } from './data-sources/update.ts'
import { listEvents } from './events/list.ts'
import { healthz, readyz } from './http/health.ts'
import type { Operation } from './http/operation.ts'
import { createSchema } from './schemas/create.ts'
import { deleteSchema } from './schemas/delete.ts'
import { getSchema } from './schemas/get.ts'
import { listSchemas } from './schemas/list.ts'
import { getTeam } from './teams/get.ts'
import { updateTeam } from './teams/update.ts'
import { deleteUserGroup } from './user-groups/delete.ts'
import { getUserGroup } from './user-groups/get.ts'
import { getOrCreate, getOrCreateByPost } from './user-groups/get-or-create.ts'
import { listUserGroups } from './user-groups/list.ts'
import { rotateToken } from './user-groups/rotate-token.ts'
import { updateUserGroup } from './user-groups/update.ts'
import { verifyToken } from './verify/verify.ts'

/** Every operation there is. Routes, metrics, logs, the OpenAPI document and the tests that cover all come from it. */
export const operations: readonly Operation[] = [
  getOrCreate,
  rotateToken,
  verifyToken,
  getOrCreateByPost,
  listUserGroups,
  getUserGroup,
  updateUserGroup,
  deleteUserGroup,
  createSchema,
  listSchemas,
  getSchema,
  deleteSchema,
  createDataSource,
  listDataSources,
  getDataSource,
  updateDataSource,
  deleteDataSource,
  createApiToken,
  listApiTokens,
  revokeApiToken,
  getTeam,
  updateTeam,
  listEvents,
  healthz,
  readyz,
]
