import { describeEvents } from '@switchhook/contracts'
import { PUBLIC_HEADERS } from '../pages/mount-pages.ts'
import { bind, type Route, type RouteOf, type RouteSpec } from '../route.ts'
import { FixedJson } from '../send.ts'
import { buildDocument, type DescribeDelivery } from './build-document.ts'

interface DocumentDeps {
  readonly document: FixedJson
  readonly events: FixedJson
}

const common = { method: 'get', tag: 'document', description: 'Needs no token.', isPublic: true } as const
const documentSchema = { type: 'object', description: 'The document.' }

const readDocument: RouteOf<DocumentDeps> = {
  ...common,
  path: '/api/v1/openapi.json',
  operationId: 'readDocument',
  summary: 'Read the OpenAPI document',
  responses: { 200: { description: 'This document (OpenAPI 3.1).', body: documentSchema } },
  handle: async (_request, { document }) => ({ status: 200, headers: PUBLIC_HEADERS, body: document }),
}

const readEventsDocument: RouteOf<DocumentDeps> = {
  ...common,
  path: '/api/v1/asyncapi.json',
  operationId: 'readEventsDocument',
  summary: 'Read the AsyncAPI document of the events',
  responses: { 200: { description: 'The document of the events (AsyncAPI 3).', body: documentSchema } },
  handle: async (_request, { events }) => ({ status: 200, headers: PUBLIC_HEADERS, body: events }),
}

const ROUTES = [readDocument, readEventsDocument]

/** Adds the routes that serve the documents. The OpenAPI document describes them as well. */
export const withDocumentSpecs = (specs: readonly RouteSpec[]): readonly RouteSpec[] => [...specs, ...ROUTES]

export function withDocument(routes: readonly Route[], delivery: DescribeDelivery): readonly Route[] {
  const document = new FixedJson(() => buildDocument(withDocumentSpecs(routes), delivery))
  const events = new FixedJson(describeEvents)
  return [...routes, ...ROUTES.map((route) => bind(route, { document, events }))]
}
