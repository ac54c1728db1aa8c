import { describeEvents } from '@switchhook/contracts'
import type { Route } from '../http/route.ts'
import { type ApiDocument, buildDocument } from './build-document.ts'

/** Adds the routes that serve the document of all of them, their own included, and that of the events. */
export function withDocument(routes: readonly Route[]): readonly Route[] {
  let document: ApiDocument | undefined
  const events = describeEvents()
  const common = {
    method: 'get',
    tag: 'document',
    description: "Needs no token: it holds nobody's data.",
    isPublic: true,
    failures: [],
  } as const
  const apiRoute: Route = {
    ...common,
    path: '/api/v1/openapi.json',
    operationId: 'readDocument',
    summary: 'This document',
    responses: {
      200: { description: 'An OpenAPI 3.1 document.', body: { type: 'object', description: 'The document.' } },
    },
    handle: async () => ({ status: 200, body: document }),
  }
  const eventsRoute: Route = {
    ...common,
    path: '/api/v1/asyncapi.json',
    operationId: 'readEventsDocument',
    summary: 'The document of webhooks and events',
    responses: {
      200: { description: 'An AsyncAPI 3 document.', body: { type: 'object', description: 'The document.' } },
    },
    handle: async () => ({ status: 200, body: events }),
  }
  const all = [...routes, apiRoute, eventsRoute]
  document = buildDocument(all)
  return all
}
