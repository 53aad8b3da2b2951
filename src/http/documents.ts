import { docsPage, docsPolicy } from './docs-page.ts'
import { json } from './exchange.ts'
import { openApiDocument } from './openapi.ts'
import type { Operation, Route } from './operation.ts'

const open = { method: 'GET', scope: null, takesBody: false } as const

/** The service describes itself: for programs, and for people with a browser. Neither needs a token. */
export function documentRoutes(operations: readonly Operation[], version: string): Route[] {
  const document = { type: json, text: JSON.stringify(openApiDocument(operations, version)) }
  const page = { type: 'text/html; charset=utf-8', text: docsPage(operations, version) }
  const pageHeaders = {
    'Content-Security-Policy': docsPolicy,
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  }
  return [
    { ...open, id: 'openapi', path: '/api/openapi.json', answer: () => document },
    {
      ...open,
      id: 'docs',
      path: '/api/docs',
      answer(exchange) {
        exchange.addHeaders(pageHeaders)
        return page
      },
    },
  ]
}
