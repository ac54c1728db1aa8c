import { feature } from '../../http/feature.ts'
import type { WebhookParts } from '../stores.ts'
import { listParkedCauses } from './parked-causes-route.ts'
import { readPolicy } from './policy-route.ts'
import { readStatistics } from './statistics-route.ts'
import { readSummary } from './summary-route.ts'

/** What a person wants to see first: how all endpoints of the tenant stand, and over time. */
export const overview = feature([readSummary, listParkedCauses, readStatistics, readPolicy], (parts: WebhookParts) => ({
  deps: parts,
}))
