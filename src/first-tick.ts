import { executionAsyncResource } from 'node:async_hooks'

/**
 * One of the objects that Node makes for every `process.nextTick`, kept for good. Where V8 collects garbage while there is
 * none of them, it forgets their shape and never makes them fast again: a tick takes six times as long from then on, and
 * a request has some eight.
 */
export const firstTick: { object?: object } = {}

process.nextTick(() => {
  firstTick.object = executionAsyncResource()
})
