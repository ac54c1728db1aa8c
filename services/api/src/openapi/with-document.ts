import type { Route } from '../http/route.ts'
import { type ApiDocument, buildDocument } from './build-document.ts'

/** Adds the route that serves the document of all of them, its own included. */
export function withDocument(routes: readonly Route[]): readonly Route[] {
  let document: ApiDocument | undefined
  const documentRoute: Route = {
    method: 'get',
    path: '/api/v1/openapi.json',
    operationId: 'readDocument',
    tag: 'document',
    summary: 'This document',
    description: "Needs no token: it holds nobody's data.",
    isPublic: true,
    responses: {
      200: { description: 'An OpenAPI 3.1 document.', body: { type: 'object', description: 'The document.' } },
    },
    failures: [],
    handle: async () => ({ status: 200, body: document }),
  }
  const all = [...routes, documentRoute]
  document = buildDocument(all)
  return all
}
