import { browserHeaders } from './browser-headers.ts'
import { docsPage, docsPolicy } from './docs-page.ts'
import { json } from './exchange.ts'
import { openApiDocument } from './openapi.ts'
import type { Answer, Operation, Route } from './operation.ts'

const open = { method: 'GET', scope: null, takesBody: false } as const

/** The service describes itself: for programs, and for people with a browser. Neither needs a token. */
export function documentRoutes(operations: readonly Operation[], version: string): Route[] {
  const document = { type: json, content: Buffer.from(JSON.stringify(openApiDocument(operations, version))) }
  const page = { type: 'text/html; charset=utf-8', content: Buffer.from(docsPage(operations, version)) }
  const served = (id: string, path: string, answer: Answer, headers: Record<string, string>): Route => ({
    ...{ ...open, id, path },
    answer(exchange) {
      exchange.addHeaders(headers)
      return answer
    },
  })
  return [
    served('openapi', '/api/openapi.json', document, browserHeaders),
    served('docs', '/api/docs', page, { ...browserHeaders, 'Content-Security-Policy': docsPolicy }),
  ]
}
