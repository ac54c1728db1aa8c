import { crc32 } from 'node:zlib'
import type { DeliveryId, EventId, SubscriptionId } from '@switchhook/contracts'

/**
 * Every key of Switchhook in Redis. What one script touches carries one hash tag (the part in braces), so that it lies
 * on one node of a Redis Cluster:
 *
 * key                              type    holds                                            expires
 * sh:{t:<tenant>}:subscriptions    hash    subscription id → JSON                           never
 * sh:{t:<tenant>}:revision         string  random, anew with every change of the above      never
 * sh:{t:<tenant>}:order            zset    `<createdAt> <id>` of each subscription, all at 0; mark   never
 * sh:{t:<tenant>}:breaker:<subscr> hash    failures in a row, cool-down, probe              a day after the last failure
 * sh:{t:<tenant>}:contact:<subscr> hash    when its endpoint last answered, and last failed   90 days after the last
 * sh:{p<n>}:state:<tenant>:<name>  string  <version>:<JSON>, a call's or an agent's state   as its writer says
 * sh:{p<n>}:outbox                 stream  events that no relay has sent yet                entry by entry, when sent
 * sh:{p<n>}:timers                 zset    timer → when it falls due, or its lease ends, ms entry by entry, when done
 * sh:{p<n>}:timers:payloads        hash    timer → JSON                                     with the above
 * sh:{<delivery>}:record           string  ledger, view and attempts (delivery-record.ts)   as DeliveryRetention says
 * sh:{<delivery>}:body             string  the webhook body, of parked ones only            with the record
 * sh:{<delivery>}:sender           string  who is sending it again                          SENDING_LEASE_MS
 * sh:{<delivery>}:redelivery:<req> string  which parked run a request sends again           two days after it was last asked
 * sh:{s:<subscription>}:parked     zset    <delivery>:<run> → when it was parked, µs        parkedRetentionMs after the last
 * sh:{s:<subscription>}:parked-limit hash  what the limits took, the last crossing            parkedRetentionMs after the last
 * sh:{t:<tenant>}:parked           zset    subscription → when it last parked something, ms    a day more than the above
 * sh:{s:<subscription>}:log        zset    <event>:<event type> → when it was fanned out, µs   DELIVERY_LOG_RETENTION after the last
 * sh:{t:<tenant>}:events           zset    JSON (event-list.ts) → when it was listed, µs       as the next
 * sh:{t:<tenant>}:pending:<w>:<n>  string  entries of the pending index (pending-index.ts)    1¼ DELIVERY_RETENTION, of the fan-out
 * sh:{t:<tenant>}:pending          string  length of its windows, ms                        as the above
 * sh:{<event>}:event               string  JSON (event-record.ts)                           DELIVERY_RETENTION, of the fan-out
 * sh:{t:<tenant>}:checks            zset    subscriptions whose endpoints are checked now → until when, ms   as CheckStore is told
 * sh:{c:<check>}:facts             string  what a check has seen, JSON                      as CheckStore is told
 * sh:{i:<scope>}:request           hash    fingerprint, seed, claim or answer of a request  IdempotencyTimes.retentionMs
 * sh:{j:<client>}:idempotent       zset    scopes of its requests → when they began, ms     IdempotencyTimes.retentionMs after the last
 * sh:{l:<client>}:requests         string  a client's requests in the present window          RequestRate.windowMs
 * sh:{t:<tenant>}:audit            stream  who did what (audit-store.ts)                    AuditRetention after the last
 * sh:installation                  hash    the installation's id, ids adopted and discarded never
 * sh:probe                         string  nothing: shows that Redis takes writes           1 s
 *
 * Calls and agents share their tag with the outbox and the timers, because the three change in one step. A tenant's
 * part is chosen by its name; the number of parts can never change, or a tenant's state would no longer be found.
 */
export const PARTITIONS: readonly number[] = Array.from({ length: 16 }, (_, part) => part)

export const partitionOf = (tenant: string | null): number => crc32(tenant ?? '') % PARTITIONS.length

export const subscriptionsKey = (tenant: string | null): string => `sh:{t:${escapeTenant(tenant)}}:subscriptions`
/** `!<revision>` is its mark: the revision that it describes (read-page.lua). */
export const subscriptionOrderKey = (tenant: string | null): string => `sh:{t:${escapeTenant(tenant)}}:order`
export const revisionKey = (tenant: string | null): string => `sh:{t:${escapeTenant(tenant)}}:revision`

export const stateKey = (tenant: string | null, name: string): string =>
  `sh:{p${partitionOf(tenant)}}:state:${escapeTenant(tenant)}:${name}`
export const outboxKey = (partition: number): string => `sh:{p${partition}}:outbox`
export const timersKey = (partition: number): string => `sh:{p${partition}}:timers`
export const timerPayloadsKey = (partition: number): string => `sh:{p${partition}}:timers:payloads`
/** Not a key, but a timer's name within its part, where several tenants may use the same id. */
export const timerMember = (tenant: string | null, id: string): string => `${escapeTenant(tenant)}:${id}`

export const recordKey = (delivery: DeliveryId): string => `sh:{${delivery}}:record`
export const bodyKey = (delivery: DeliveryId): string => `sh:{${delivery}}:body`
export const senderKey = (delivery: DeliveryId): string => `sh:{${delivery}}:sender`
export const redeliveryKey = (delivery: DeliveryId, requestId: string): string =>
  `sh:{${delivery}}:redelivery:${requestId}`
export const parkedKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:parked`
export const parkedLimitKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:parked-limit`
export const parkingSubscriptionsKey = (tenant: string | null): string => `sh:{t:${escapeTenant(tenant)}}:parked`
export const logKey = (subscription: SubscriptionId): string => `sh:{s:${subscription}}:log`
export const eventsKey = (tenant: string | null): string => `sh:{t:${escapeTenant(tenant)}}:events`
export const pendingWindowKey = (tenant: string | null): string => `sh:{t:${escapeTenant(tenant)}}:pending`
export const pendingKey = (tenant: string | null, window: number, bucket: number): string =>
  `sh:{t:${escapeTenant(tenant)}}:pending:${window}:${bucket}`
export const eventKey = (event: EventId): string => `sh:{${event}}:event`

/** Beside the subscription: what is to be known of an endpoint before a POST is read in one step. */
export const breakerKey = (tenant: string | null, subscription: SubscriptionId): string =>
  `sh:{t:${escapeTenant(tenant)}}:breaker:${subscription}`

/** Beside the breaker, but outliving it. */
export const contactKey = (tenant: string | null, subscription: SubscriptionId): string =>
  `sh:{t:${escapeTenant(tenant)}}:contact:${subscription}`

export const checksKey = (tenant: string | null): string => `sh:{t:${escapeTenant(tenant)}}:checks`
export const checkFactsKey = (checkId: string): string => `sh:{c:${checkId}}:facts`

/** A scope is a hash: it has no braces. */
export const idempotentKey = (scope: string): string => `sh:{i:${scope}}:request`

/** A client is a hash: it has no braces. */
export const idempotentListKey = (client: string): string => `sh:{j:${client}}:idempotent`

/** A client is a hash: it has no braces. */
export const requestsKey = (client: string): string => `sh:{l:${client}}:requests`

export const auditKey = (tenant: string | null): string => `sh:{t:${escapeTenant(tenant)}}:audit`

/** One key without a hash tag: commands on it touch no other key. */
export const INSTALLATION_KEY = 'sh:installation'

export const PROBE_KEY = 'sh:probe'

/**
 * One name for one tenant, whatever characters it has: a brace would end the hash tag, a colon would let two keys meet.
 * The installation itself (null) is the empty name, which no tenant has.
 */
function escapeTenant(tenant: string | null): string {
  return (tenant ?? '').replaceAll(/[^\w.-]/g, (unit) => `~${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
