import { agents } from './contact-center/agents/agent-routes.ts'
import { calls } from './contact-center/calls/calls-feature.ts'
import type { ContactCenter } from './contact-center/open-contact-center.ts'
import { simulator } from './contact-center/simulator/simulator-routes.ts'
import type { AuditLog } from './http/audit/audit-log.ts'
import { audit } from './http/audit/audit-routes.ts'
import type { Auth } from './http/auth/open-auth.ts'
import type { Feature } from './http/feature.ts'
import { type InstalledFeatures, me } from './http/me/me-route.ts'
import type { State } from './state/state.ts'
import { deliveries } from './webhooks/deliveries/deliveries-feature.ts'
import { filters } from './webhooks/filters/preview-route.ts'
import { live } from './webhooks/live/stream-route.ts'
import { overview } from './webhooks/overview/overview-feature.ts'
import { pull } from './webhooks/pull/pull-feature.ts'
import { recoveries } from './webhooks/recoveries/recoveries-feature.ts'
import type { WebhookParts } from './webhooks/stores.ts'
import { subscriptions } from './webhooks/subscriptions/subscriptions-feature.ts'
import { trials } from './webhooks/trials/trial-routes.ts'

/** What the api opens before its features. */
export interface Parts extends WebhookParts {
  readonly state: State
  readonly contactCenter: ContactCenter
  readonly auditLog: AuditLog
  readonly auth: Auth
  readonly installed: InstalledFeatures
}

/**
 * Everything that the api can do, in the order of the API document. Authentication, limits, validation, the audit log and
 * the API document follow from the routes of each feature.
 */
export const FEATURES: readonly Feature<Parts>[] = [
  subscriptions,
  filters,
  trials,
  pull,
  deliveries,
  recoveries,
  live,
  overview,
  calls,
  agents,
  audit,
  me,
  simulator,
]
