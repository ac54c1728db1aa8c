import { FEATURES } from './features.ts'
import { type ApiDocument, buildDocument } from './http/openapi/build-document.ts'
import { withDocumentSpecs } from './http/openapi/document-routes.ts'
import { deliveryWebhook } from './webhooks/deliveries/delivery-webhook.ts'

/** All routes, without the dependencies of their handlers. */
export const SPECS = withDocumentSpecs(FEATURES.flatMap(({ specs }) => specs))

export const describeApi = (): ApiDocument => buildDocument(SPECS, deliveryWebhook)

/** The committed copy of a document in docs/. */
export const documentPath = (name: string): URL => new URL(`../../../docs/${name}`, import.meta.url)

export const documentText = (document: object): string => `${JSON.stringify(document, null, 2)}\n`
