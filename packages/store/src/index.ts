export {
  type BreakerStore,
  createBreakerReader,
  createBreakerStore,
  type EndpointHealth,
} from './breaker/breaker-store.ts'
export { type Contact, type ContactStore, type Contacts, createContactStore } from './breaker/contact-store.ts'
export { type CoolDownPeriod, createCoolDownHistory } from './breaker/cool-down-history.ts'
export { createOutageStore, type Outage, type OutageStore } from './breaker/outage-store.ts'
export { createRejectionStore, type RejectionStore, type Rejections } from './breaker/rejection-store.ts'
export * from './deliveries/delivery-archive.ts'
export type { DeliveryRecord } from './deliveries/delivery-record.ts'
export { createDeliveryStore, type DeliveryStore, type Settlement } from './deliveries/delivery-store.ts'
export type { HeldExcess } from './deliveries/held-list.ts'
export type { HeldMessage } from './deliveries/held-message.ts'
export type { HeldVisit } from './deliveries/held-visits.ts'
export { cellEndMs, createKeptCounts, type Keep, type KeptCounts } from './deliveries/kept-counts.ts'
export { type ListedDelivery, pendingDelivery } from './deliveries/listed-delivery.ts'
export { createParkedCounter, type ParkedCount } from './deliveries/parked-list.ts'
export { createParkedWindow, type ParkedRange, type ParkedWindow } from './deliveries/parked-window.ts'
export {
  type Crossing,
  createLimitNotices,
  extraUnitsOf,
  type LimitNotices,
  type StorageLimits,
} from './deliveries/tenant-sizes.ts'
export { type HeldEntry, type Lease, type LeasedDelivery, leaseTimes, type Report } from './held/held-leases.ts'
export { createConfirmedHeldStore, createHeldStore, type HeldCount, type HeldStore } from './held/held-store.ts'
export { createPullerStore, type Pulled, type PullerStore } from './held/puller-store.ts'
export * from './history/delivery-counts.ts'
export { createDeliveryLog } from './history/delivery-log.ts'
export * from './history/delivery-log-reader.ts'
export { createEventList, type EventList, type EventQuery, type ListedEvent } from './history/event-list.ts'
export { createJournal, type JournalEntry, type JournalId, type LoggedEvent } from './history/journal.ts'
export * from './history/journal-reader.ts'
export * from './history/live-attempts.ts'
export * from './history/tenant-log.ts'
export { createTenantParked, type ParkedCause, type TenantParkedQuery } from './history/tenant-parked.ts'
export * from './installation/delivery-policy.ts'
export { type Installation, openInstallation } from './installation/installation.ts'
export {
  createInstallationStore,
  type InstallationStore,
  type Ruling,
  type StoredInstallation,
} from './installation/installation-store.ts'
export type { Endpoint, KeptKind } from './keys.ts'
export { createListCursor, type ListPart, type Page, type PageQuery } from './paging.ts'
export { createPermitStore, PERMIT_VALID_MS, type PermitStore } from './permits/permit-store.ts'
export { assertDurable } from './redis/durability.ts'
export { chunksOf, inChunks } from './redis/in-chunks.ts'
export { openRedis, type Redis } from './redis/redis.ts'
export { type AuditList, type AuditStore, createAuditStore, type NewAuditEntry } from './requests/audit-store.ts'
export * from './requests/idempotency-store.ts'
export { createRequestLimiter } from './requests/request-limiter.ts'
export { createFollowedRecords } from './state/followed-records.ts'
export { createLeaseStore } from './state/lease-store.ts'
export { createOutbox, type Outbox, type OutboxEntry } from './state/outbox.ts'
export * from './state/state-store.ts'
export { createTimerStore, type DueTimer, type TimerStore } from './state/timer-store.ts'
export { createUptimeStore, type Uptime, type UptimeStore } from './state/uptime-store.ts'
export { addCounts, type Counts, countAttempt, countEnd, type Figures, OUTCOME_CODES } from './statistics/counts.ts'
export * from './statistics/statistics-store.ts'
export * from './subscriptions/check-store.ts'
export type { MatchedSubscription } from './subscriptions/filtered-subscriptions.ts'
export { createMatching } from './subscriptions/matching.ts'
export * from './subscriptions/subscription-store.ts'
