import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { previewFilter } from './preview-route.ts'

/** Trying a filter before a subscription gets it. */
export const filters = feature([previewFilter], (base: Base) => ({ deps: base }))
