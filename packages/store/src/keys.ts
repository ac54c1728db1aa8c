import { crc32 } from 'node:zlib'
import type { Delivery, DeliveryId, EventId, SubscriptionId, Tenant } from '@switchhook/contracts'

/*
 * Every key of Switchhook in Redis. The comment of each key gives its type and content · its lifetime · its writer.
 *
 * The part in braces is the hash tag. Keys with the same tag are on one node of a Redis Cluster. A script only touches
 * keys with the same tag; a script with several parts (`ScriptPart` in commands.ts) only in each part. The tag
 * `t:<tenant>` is for a tenant's configuration and lists, `p<n>` for the state of the tenants in partition n,
 * `s:<subscription>` for a subscription's lists, a bare id for one delivery or event.
 *
 * "api", "fanout" and "worker" are the services. Names in capitals are settings (docs/configuration.md).
 */

// Subscriptions

/** hash: subscription id → JSON · until deleted · api */
export const subscriptionsKey = (tenant: Tenant): string => ofTenant(tenant, 'subscriptions')

/** string: random, replaced with every change of the subscriptions; invalidates caches · forever · api */
export const revisionKey = (tenant: Tenant): string => ofTenant(tenant, 'revision')

/**
 * zset: `<createdAt> <id>` per subscription, all with score 0, for paging · until the last one is deleted · api
 * The extra member `!<revision>` names the revision that the set describes.
 */
export const subscriptionOrderKey = (tenant: Tenant): string => ofTenant(tenant, 'order')

/** string: the bytes of the JSON of a tenant's subscriptions · until the last one is deleted · api */
export const subscriptionBytesKey = (tenant: Tenant): string => ofTenant(tenant, 'subscription-bytes')

/**
 * list: `<revision before> <revision after> <subscription>` of a tenant's latest changes, if it has many subscriptions
 * (matching.ts) · a day from the last one · api
 */
export const subscriptionChangesKey = (tenant: Tenant): string => ofTenant(tenant, 'changes')

/** hash: externalId → subscription id · until deleted; an entry whose subscription is gone is free · api */
export const externalIdsKey = (tenant: Tenant): string => ofTenant(tenant, 'external-ids')

/**
 * string: the url, signing and headers of a deleted subscription, as JSON · as long as a delivery can be sent again, from the
 * deletion on · api
 */
export const removedSubscriptionKey = (endpoint: Endpoint): string => ofEndpoint(endpoint, 'removed')

/** list: the latest deleted subscriptions, of which that and the cool-downs are kept, the oldest first · likewise, from the last deletion on · api */
export const removedSubscriptionsKey = (tenant: Tenant): string => ofTenant(tenant, 'removed')

/** zset: subscription → end of the lease of its receiver check, ms · as long as the longest lease · api */
export const checksKey = (tenant: Tenant): string => ofTenant(tenant, 'checks')

/** string: result of a receiver check, JSON · until the api takes it, at most 10 minutes · worker */
export const checkFactsKey = (checkId: string): string => `sh:{c:${checkId}}:facts`

// Circuit breaker and contact times. They share the subscriptions' tag, so that one script reads both.

/** The endpoint of a subscription. A delivery names it. */
export type Endpoint = Pick<Delivery, 'tenant' | 'subscriptionId'>

/** hash: circuit breaker of a subscription (breaker-store.ts) · a day and a cool-down from the last failure, of an outage 30 days, of a deleted subscription an hour · worker */
export const breakerKey = (endpoint: Endpoint): string => ofEndpoint(endpoint, 'breaker')

/** zset: start of a period of cool-downs, ms → its end, ms (cool-down-history.ts) · 30 days from the last one; of the latest deleted subscriptions only · worker */
export const coolDownsKey = (endpoint: Endpoint): string => ofEndpoint(endpoint, 'cool-downs')

/**
 * string: since when the endpoint has rejected deliveries, ms, and the id of the recovery to come (rejection-store.ts) · until
 * that recovery begins or the subscription is deleted, at most 30 days from the last rejection · worker, api
 */
export const rejectedKey = (endpoint: Endpoint): string => ofEndpoint(endpoint, 'rejected')

/** hash: when the endpoint last acknowledged and when it last failed · 90 days from the last contact, or until the subscription is deleted · worker */
export const contactKey = (endpoint: Endpoint): string => ofEndpoint(endpoint, 'contact')

// Deliveries

/** string: ledger, view and attempts (delivery-record.ts) · ledger-store.ts · worker; api for redeliveries */
export const recordKey = (delivery: DeliveryId): string => `sh:{${delivery}}:record`

/** string: the ledger line of an ended run, for duplicates that outlast its record · ledger-store.ts · worker */
export const ledgerKey = (delivery: DeliveryId): string => `sh:{${delivery}}:ledger`

/** string: the webhook body of a parked delivery · as long as the record, or until a limit releases it · worker */
export const bodyKey = (delivery: DeliveryId): string => `sh:{${delivery}}:body`

/** string: the sender that is publishing a redelivery · 15 seconds · api */
export const senderKey = (delivery: DeliveryId): string => `sh:{${delivery}}:sender`

/** string: the run that a request's redelivery began from · two days from its last use, 10 minutes once the answer is stored · api */
export const redeliveryKey = (delivery: DeliveryId, requestId: string): string =>
  `sh:{${delivery}}:redelivery:${requestId}`

/** zset: `<delivery>:<run>` → when it was parked, µs · PARKED_RETENTION from the last addition · worker, api */
export const parkedKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:parked`

/** hash: how much the limits released · PARKED_RETENTION from the last release · worker */
export const parkedLimitKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:parked-limit`

/** zset: each of the latest 10,000 subscriptions that parked a delivery → when it last did, ms · PARKED_RETENTION and a day from the last one · worker */
export const parkingSubscriptionsKey = (tenant: Tenant): string => ofTenant(tenant, 'parked')

/** hash: `<delivery>:<run>` → units that a large one takes beyond one (tenant-sizes.ts); `sum` → of all with a body · as the list above · worker, api */
export const parkedExtrasKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:parked-extras`

/** zset: subscription → how many units its parked, or held, deliveries take, as last recorded (tenant-sizes.ts) · PARKED_RETENTION and a day from the last record · worker */
export const sizesKey = (tenant: Tenant, list: 'parked' | 'held'): string => ofTenant(tenant, `${list}-sizes`)

/** hash: the sum of the sizes; until when a worker cuts lists, ms · as the sizes · worker */
export const totalKey = (tenant: Tenant, list: 'parked' | 'held'): string => ofTenant(tenant, `${list}-total`)

/** hash: subscription → the limit that its list crossed · as the sizes, or until the list is far below · worker */
export const crossingsKey = (tenant: Tenant, list: 'parked' | 'held'): string => ofTenant(tenant, `${list}-crossings`)

/** hash: subscription → crossing of which there is no notice yet: when, ms, the limit and the size · likewise, or until its notice is published · worker */
export const limitNoticesKey = (tenant: Tenant, list: 'parked' | 'held'): string => ofTenant(tenant, `${list}-notices`)

/** What ends at a known time: records of settled deliveries, ledgers that outlive a record, deliveries that wait in RabbitMQ. */
export type KeptKind = 'settled' | 'ledgers' | 'waiting'

/** hash: end of a cell of time, ms → how many of a kind end in it (kept-counts.ts) · until the last cell has passed · worker */
export const keptKey = (tenant: Tenant, kind: KeptKind): string => ofTenant(tenant, `kept-${kind}`)

/** string: when a worker last found that a tenant keeps as many of a kind as it may, ms · DELIVERY_RETENTION · worker */
export const refusedKey = (tenant: Tenant, kind: KeptKind): string => ofTenant(tenant, `refused-${kind}`)

// Held deliveries: of subscriptions that are paused, at their limits, or received instead of being POSTed (held-store.ts)

/** string: the message of a held delivery (held-message.ts) · PARKED_RETENTION, or until the delivery continues · worker */
export const heldMessageKey = (delivery: DeliveryId): string => `sh:{${delivery}}:held`

/** zset: held delivery → when it is due, ms · PARKED_RETENTION from the last addition · worker, api */
export const heldKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:held`

/** zset: held delivery that a client has received → its lease (held-leases.ts) · as the list above · api */
export const leasedKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:leased`

/** hash: held delivery → its lease and the outcome that a client has reported under it (held-leases.ts) · each until a worker has recorded it · api, worker */
export const reportedKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:reported`

/** hash: held delivery, leased ones included → units that a large one takes beyond one (tenant-sizes.ts); `sum` → of all · as the list above · worker, api */
export const heldExtrasKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:held-extras`

/** zset: held delivery that a worker parks, because a limit was reached → when another worker does it, ms · as the list above · worker */
export const parkingKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:parking`

/** zset: permit, or delivery that a worker passed on → when it expires, ms (permit-store.ts) · until the last one expires · worker */
export const inFlightKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:in-flight`

/** zset: likewise → when it was taken, ms; of a reservation: a second before it expires · until the last one expires · worker */
export const postedKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:posted`

/** string: when a script last saw to the three lists with times of a subscription, ms (`keepTime` in prelude.lua) · an hour · worker, api */
export const clockKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:clock`

/** That key, and the lists. */
export const timedKeys = (id: SubscriptionId): string[] => [clockKey(id), heldKey(id), inFlightKey(id), postedKey(id)]

/** zset: `[tenant, subscription]` → when a worker visits its held deliveries next, ms · until none is left · worker, api */
export const heldVisitsKey = (partition: number): string => `sh:{p${partition}}:held`

/** zset: `[tenant, subscription]` → when the claim of a worker that visits it ends, ms; `asked …` → when the next visit was asked for meanwhile · the lease of a claim · worker, api */
export const heldClaimsKey = (partition: number): string => `sh:{p${partition}}:held-claims`

/** string: likewise, for the two lists above · an hour · worker, api */
export const visitsClockKey = (partition: number): string => `sh:{p${partition}}:visits-clock`

/** hash: client → since when and when last it received, ms (puller-store.ts) · 38 days from the last time, or until the subscription is deleted · api */
export const pullersKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:pullers`

/** string: empty; exists once the reported outcomes are recorded · 10 minutes · worker */
export const outcomesKey = (batchId: string): string => `sh:{o:${batchId}}:outcomes`

// Delivery log

/** zset: `<event>:<event type>` → when it was fanned out, µs · DELIVERY_LOG_RETENTION from the last one, or until the subscription is deleted · fanout, api */
export const logKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:log`

/** string: JSON of the subscriptions of an event that went to more than the journal lists · DELIVERY_RETENTION · fanout */
export const recipientsKey = (event: EventId): string => `sh:{${event}}:recipients`

// Statistics

/** zset: subscription with statistics of its own → when it was last counted, ms · 35 days from the last one · worker */
export const countedSubscriptionsKey = (tenant: Tenant): string => ofTenant(tenant, 'counted')

/**
 * hash: position of a minute (hour) among 120 → its counts (counts.ts); no subscription: of the whole tenant · from its
 * first cell, 26 hours (35 days) · worker
 */
export const statisticsKey = (
  tenant: Tenant,
  subscription: SubscriptionId | null,
  step: '1m' | '1h',
  hash: number,
): string => ofTenant(tenant, `statistics:${subscription ?? ''}:${step}:${hash}`)

// Journal and live stream

/** stream: a tenant's events with their data (journal.ts) · EVENT_JOURNAL_RETENTION from the last one · fanout */
export const journalKey = (tenant: Tenant): string => ofTenant(tenant, 'journal')

/** zset: event mark (ids.ts of contracts) → the event's place in the journal, µs · as the journal · fanout */
export const journalIndexKey = (tenant: Tenant): string => ofTenant(tenant, 'journal:index')

/** string: empty; exists while a client reads the tenant's live stream · 15 seconds · api */
export const listeningKey = (tenant: Tenant): string => ofTenant(tenant, 'listening')

/** stream: attempts for the live stream (live-attempts.ts) · a minute from the last one · worker */
export const attemptsKey = (tenant: Tenant): string => ofTenant(tenant, 'attempts')

// Calls, agents and recoveries. They share a tag with the outbox and the timers, because one step changes all three.

/** string: `<version>:<JSON>`, for example the state of a call · see `StateChange` · api */
export const stateKey = (tenant: Tenant, name: string): string =>
  `sh:{p${partitionOf(tenant)}}:state:${escapeTenant(tenant)}:${name}`

/** stream: events that wait to be published · each until the broker confirms it · api */
export const outboxKey = (partition: number): string => `sh:{p${partition}}:outbox`

/** zset: timer → when it falls due, or when its lease ends, ms · each until it is handled · api, worker */
export const timersKey = (partition: number): string => `sh:{p${partition}}:timers`

/** hash: timer → JSON · each as long as the timer · api, worker */
export const timerPayloadsKey = (partition: number): string => `sh:{p${partition}}:timers:payloads`

/** string: when a script last saw to the timers, ms (`keepTime` in prelude.lua) · an hour · api, worker */
export const timersClockKey = (partition: number): string => `sh:{p${partition}}:timers:clock`

/** zset: `[tenant, name]` of state records that a platform adapter follows → when it was added, ms · each until it is removed · api */
export const followedKey = (partition: number): string => `sh:{p${partition}}:followed`

/** string: the process that holds a lease · as long as the lease · api */
export const leaseKey = (name: string): string => `sh:{n:${escapeTenant(name)}}:lease`

/** The name of a timer in its partition, not a key. Several tenants of a partition may use the same id. */
export const timerMember = (tenant: Tenant, id: string): string => `${escapeTenant(tenant)}:${id}`

/** The number of partitions can never change, or the state of most tenants would no longer be found. */
export const PARTITIONS: readonly number[] = Array.from({ length: 16 }, (_, partition) => partition)

export const partitionOf = (tenant: Tenant): number => crc32(tenant ?? '') % PARTITIONS.length

// Requests. A scope and a client are hashes, so they contain no braces.

/** hash: a request with an idempotency key: fingerprint, seed, claim or answer · see `IdempotencyTimes` · api */
export const idempotentKey = (scope: string): string => `sh:{i:${scope}}:request`

/** zset: scope of each such request of a client or tenant → when it began, ms · likewise, from the last one · api */
export const idempotentListKey = (owner: string): string => `sh:{j:${owner}}:idempotent`

/** string: how many requests a client or tenant made in the present window · as long as the window (RATE_LIMIT) · api */
export const requestsKey = (client: string): string => `sh:{l:${client}}:requests`

/** stream: the audit log of webhook changes (audit-store.ts) · AUDIT_RETENTION from the last entry · api */
export const auditKey = (tenant: Tenant): string => ofTenant(tenant, 'audit')

/** stream: the audit log of call commands and presence · likewise · api */
export const commandAuditKey = (tenant: Tenant): string => `${auditKey(tenant)}:commands`

// The Redis itself. These keys need no hash tag, because no command touches one of them together with another key.

/** hash: the installation's id; ids that an operator adopted or discarded · forever · any service, operator commands */
export const INSTALLATION_KEY = 'sh:installation'

/** zset: start of a period in which the api could be asked, ms → its end, ms (uptime-store.ts) · forever · api */
export const UPTIME_KEY = 'sh:uptime'

/** string: JSON of the delivery policy (delivery-policy.ts) · forever · worker */
export const POLICY_KEY = 'sh:policy'

/**
 * string: empty, written to find out whether Redis accepts writes · 1 second · any service
 * In a cluster it has the slot of `INSTALLATION_KEY`, so that only one primary decides whether every consumer pauses.
 */
export const TEST_WRITE_KEY = `sh:{${INSTALLATION_KEY}}:probe`

const ofTenant = (tenant: Tenant, name: string): string => `sh:{t:${escapeTenant(tenant)}}:${name}`

const ofEndpoint = ({ tenant, subscriptionId }: Endpoint, name: string): string =>
  ofTenant(tenant, `${name}:${subscriptionId}`)

/**
 * Escapes a tenant's name one-to-one: a brace would end the hash tag, and a colon could make two keys equal. The
 * installation itself (null) is the empty name, which no tenant has.
 */
function escapeTenant(tenant: Tenant): string {
  return (tenant ?? '').replaceAll(/[^\w.-]/g, (unit) => `~${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
