// Writes what is made from the operations and committed: run it after changing one ("npm run generate").
import { writeFileSync } from 'node:fs'
import { catalogue } from '../src/errors.ts'
import { openApiDocument } from '../src/http/openapi.ts'
import { operations } from '../src/operations.ts'
import { version } from '../src/version.ts'
import { clientTypes } from './client-types.ts'

writeFileSync('openapi.json', `${JSON.stringify(openApiDocument(operations, version), null, 2)}\n`)
writeFileSync('client/src/types.ts', clientTypes(operations, Object.keys(catalogue)))
