import type { Route } from '../http/route.ts'
import { collectRoutes, describedFeatures } from '../routes.ts'
import { type ApiDocument, buildDocument } from './build-document.ts'

/** The table of routes without dependencies: the routes can be described, not called. */
export const describedRoutes = (): readonly Route[] => collectRoutes(describedFeatures())

export const describeApi = (): ApiDocument => buildDocument(describedRoutes())

/** The committed copy of a document in docs/. */
export const documentPath = (name: string): URL => new URL(`../../../../docs/${name}`, import.meta.url)

export const documentText = (document: object): string => `${JSON.stringify(document, null, 2)}\n`
