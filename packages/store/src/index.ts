export { type AuditRetention, type AuditStore, createAuditStore } from './audit-store.ts'
export {
  type BreakerStore,
  createBreakerReader,
  createBreakerStore,
  type Endpoint,
  type EndpointHealth,
  type Probe,
} from './breaker-store.ts'
export { type CheckStore, createCheckStore } from './check-store.ts'
export { type Contact, type ContactStore, createContactStore } from './contact-store.ts'
export { createDeliveryArchive, type DeliveryArchive, type Redeliverer } from './delivery-archive.ts'
export { createDeliveryLog, type DeliveryLog } from './delivery-log.ts'
export {
  createDeliveryLogReader,
  type DeliveryLogReader,
  type LogPage,
  type LogQuery,
  type PendingDelivery,
} from './delivery-log-reader.ts'
export type { DeliveryRecord, DeliveryState } from './delivery-record.ts'
export {
  createDeliveryStore,
  type DeliveryRetention,
  type DeliveryStore,
  type Settlement,
} from './delivery-store.ts'
export { assertDurableInProduction } from './durability.ts'
export { createEventList, type EventList } from './event-list.ts'
export type { EventRecord, LoggedEvent } from './event-record.ts'
export {
  createIdempotencyStore,
  type IdempotencyBegun,
  type IdempotencyClaim,
  type IdempotencyStore,
  type IdempotencyTimes,
} from './idempotency-store.ts'
export { type Installation, type InstallationOptions, openInstallation } from './installation.ts'
export { originOf, type StoredInstallation, type Verdict } from './installation-rule.ts'
export { createInstallationStore, type InstallationStore } from './installation-store.ts'
export { createListCursor } from './list-cursor.ts'
export type { Log } from './log.ts'
export { createOutageStore, type Outage, type OutageStore } from './outage-store.ts'
export { createOutbox, type Outbox, type OutboxEntry } from './outbox.ts'
export type { ListedDelivery, ParkedPage, ParkedQuery } from './parked-index.ts'
export {
  type Crossing,
  createParkedCounter,
  createParkedLimitStore,
  type ParkedCount,
  type ParkedCounter,
  type ParkedLimitStore,
} from './parked-limit-store.ts'
export { createParkedWindow, type ParkedRange, type ParkedWindow, type RunState } from './parked-window.ts'
export { openRedis, type Redis } from './redis.ts'
export { createRequestLimiter, type RequestLimiter, type RequestRate } from './request-limiter.ts'
export { createServerClock } from './server-clock.ts'
export { createStateStore, type StateChange, type StateRecord, type StateStore } from './state-store.ts'
export type { SubscriptionPage, SubscriptionQuery } from './subscription-page.ts'
export {
  createSubscriptionStore,
  type SubscriptionChange,
  type SubscriptionStore,
} from './subscription-store.ts'
export { createTimerStore, type DueTimer, type TimerStore } from './timer-store.ts'
