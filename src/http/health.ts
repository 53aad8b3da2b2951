import { ServiceError } from '../errors.ts'
import { openOperation } from './operation.ts'

export const healthz = openOperation({
  id: 'health.alive',
  method: 'GET',
  path: '/healthz',
  summary: 'The process is alive.',
  scope: null,
  reply: {},
  errors: [],
  example: { reply: {} },
  async handle() {
    return {}
  },
})

export const readyz = openOperation({
  id: 'health.ready',
  method: 'GET',
  path: '/readyz',
  summary: 'The database answers, and the keys open what it holds.',
  scope: null,
  reply: {},
  errors: ['unavailable'],
  example: { reply: {} },
  async handle({ store, tokens }) {
    const inUse = await store.keys.all()
    const missing = [...inUse.keys()].filter((keyId) => !tokens.canOpen(keyId))
    if (missing.length > 0 || !inUse.has(tokens.newestKeyId))
      throw new ServiceError('unavailable', {
        message: 'The master keys changed since this process started; restart it with those in use.',
        cause: new Error(`in use: ${[...inUse.keys()].join(', ')}; missing here: ${missing.join(', ') || 'none'}`),
      })
    return {}
  },
})
