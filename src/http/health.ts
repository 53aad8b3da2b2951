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
    if (missing.length > 0)
      throw new ServiceError('unavailable', {
        message: 'Tokens are sealed under a master key that this process was not given; restart it with the key.',
        cause: new Error(`missing master keys: ${missing.join(', ')}`),
      })
    return {}
  },
})
