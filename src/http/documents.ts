import type { FastifyInstance } from 'fastify'
import { browserHeaders } from './browser-headers.ts'
import { docsPage, docsPolicy } from './docs-page.ts'
import { openApiDocument } from './openapi.ts'
import { entry, type Operation } from './operation.ts'

export const documentPaths = ['/api/openapi.json', '/api/docs'] as const

/** The service describes itself: for programs, and for people with a browser. Neither needs a token. */
export function serveDocuments(app: FastifyInstance, operations: readonly Operation[], version: string): void {
  const document = openApiDocument(operations, version)
  const json = JSON.stringify(document)
  const page = docsPage(operations, version)
  app.get('/api/openapi.json', { onRequest: entry('openapi') }, (_request, reply) =>
    reply.headers(browserHeaders).type('application/json; charset=utf-8').send(json),
  )
  app.get('/api/docs', { onRequest: entry('docs') }, (_request, reply) =>
    reply
      .headers({ ...browserHeaders, 'Content-Security-Policy': docsPolicy })
      .type('text/html; charset=utf-8')
      .send(page),
  )
}
