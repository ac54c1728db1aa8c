import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { previewFilter } from './preview-route.ts'

export const filters = feature([previewFilter], (base: Base) => ({ deps: base }))
