import type { Route } from '../http/route.ts'
import { collectRoutes, describedFeatures } from '../routes.ts'
import { type ApiDocument, buildDocument } from './build-document.ts'

/** The table of routes with nothing behind it: to be read, not to be called. */
export const describedRoutes = (): readonly Route[] => collectRoutes(describedFeatures())

export const describeApi = (): ApiDocument => buildDocument(describedRoutes())
