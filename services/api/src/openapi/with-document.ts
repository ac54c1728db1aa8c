import { describeEvents } from '@switchhook/contracts'
import type { Route } from '../http/route.ts'
import { type ApiDocument, buildDocument } from './build-document.ts'

/** Adds the routes that serve the OpenAPI document of all routes, themselves included, and the AsyncAPI document. */
export function withDocument(routes: readonly Route[]): readonly Route[] {
  let document: ApiDocument | undefined
  const events = describeEvents()
  const common = {
    method: 'get',
    tag: 'document',
    description: 'Needs no token.',
    isPublic: true,
    failures: [],
  } as const
  const apiRoute: Route = {
    ...common,
    path: '/api/v1/openapi.json',
    operationId: 'readDocument',
    summary: 'Read the OpenAPI document',
    responses: {
      200: { description: 'This document (OpenAPI 3.1).', body: { type: 'object', description: 'The document.' } },
    },
    handle: async () => ({ status: 200, body: document }),
  }
  const eventsRoute: Route = {
    ...common,
    path: '/api/v1/asyncapi.json',
    operationId: 'readEventsDocument',
    summary: 'Read the AsyncAPI document of the events',
    responses: {
      200: {
        description: 'The document of the events (AsyncAPI 3).',
        body: { type: 'object', description: 'The document.' },
      },
    },
    handle: async () => ({ status: 200, body: events }),
  }
  const all = [...routes, apiRoute, eventsRoute]
  document = buildDocument(all)
  return all
}
