import {
  type Delivery,
  type EventId,
  type EventType,
  isNotice,
  type NoticeData,
  noticeEventIdOf,
  OutcomeNumber,
  ParkedReasonNumber,
  type PlatformEvent,
  parkedEventIdOf,
  type Tenant,
  withoutQuery,
} from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import { type Logger, oneAtATime } from '@switchhook/runtime'
import type { DeliveryArchive, DeliveryRecord, LimitNotices, OutageStore } from '@switchhook/store'
import type { AfterSettled } from '../pipeline/pipeline.ts'
import { mayBeParked } from '../pipeline/progress.ts'

export interface NoticesDeps {
  /** The tenant's subscriptions to a type. */
  readonly matching: (tenant: Tenant, eventType: EventType) => Promise<readonly unknown[]>
  readonly outages: OutageStore
  readonly parkedLimitNotices: LimitNotices
  readonly heldLimitNotices: LimitNotices
  readonly archive: Pick<DeliveryArchive, 'find'>
  readonly broker: Pick<Broker, 'publishEvent'>
  /** Called after the broker's confirm. */
  readonly published: (event: PlatformEvent) => void
  readonly log: Pick<Logger, 'warn'>
}

/** See `createNotices`. */
export type Notices = ReturnType<typeof createNotices>

const FAILING = 'webhook.endpoint.failing'
const RECOVERED = 'webhook.endpoint.recovered'

/**
 * Notices are events about the delivery engine, for subscriptions of the tenant concerned. Their ids are derived and their
 * data is read from the store, so a repeat is the same event. No notice is published:
 * - about the delivery of a notice: a failing endpoint for notices would create notices without end
 * - to a tenant without a subscription to its type
 * - about a parked trial: its caller looks at the result
 */
export function createNotices(deps: NoticesDeps) {
  const { matching, outages, parkedLimitNotices, heldLimitNotices, archive, published, log } = deps

  /** Whether the tenant has a subscription that receives this type. */
  const isWanted = async (tenant: Tenant, eventType: EventType): Promise<boolean> =>
    (await matching(tenant, eventType)).length > 0

  async function publish(
    { tenant, traceparent }: Pick<Delivery, 'tenant' | 'traceparent'>,
    eventType: EventType,
    eventId: EventId,
    data: NoticeData,
  ): Promise<void> {
    const traced = traceparent !== undefined && { traceparent }
    const event = { eventId, eventType, occurredAt: data.occurredAt, tenant, data: { ...data }, ...traced }
    await deps.broker.publishEvent(event)
    published(event)
  }

  const concerns = async (delivery: Pick<Delivery, 'tenant' | 'eventType'>, eventType: EventType): Promise<boolean> =>
    !isNotice(delivery.eventType) && (await isWanted(delivery.tenant, eventType))

  /** Never rejects. A missed notice of an outage is repeated with its next failed probe; one of a recovery is lost. */
  const quietly =
    (eventType: EventType, publishNotice: (delivery: Delivery) => Promise<void>) =>
    async (delivery: Delivery): Promise<void> => {
      try {
        if (await concerns(delivery, eventType)) await publishNotice(delivery)
      } catch (error) {
        const { subscriptionId } = delivery
        log.warn('a notice was not published', { notice: eventType, subscriptionId, error })
      }
    }

  const limitNotice = (
    eventType: 'webhook.parked.limit' | 'webhook.held.limit',
    store: LimitNotices,
    counted: (size: number) => { readonly parked: number } | { readonly held: number },
  ) =>
    oneAtATime(async (tenant: Tenant): Promise<void> => {
      if (!(await isWanted(tenant, eventType))) return
      for (const crossing of await store.due(tenant)) {
        const { subscriptionId, crossedAtMs, limit, size } = crossing
        const data = { subscriptionId, limit, ...counted(size), occurredAt: toIso(crossedAtMs) }
        await publish({ tenant }, eventType, noticeEventIdOf(subscriptionId, eventType, crossedAtMs), data)
        await store.published(crossing)
      }
    })

  /** Publishes, once per crossing, that a subscription of the tenant has more parked deliveries than may keep their body. */
  const noticeParkedLimit = limitNotice('webhook.parked.limit', parkedLimitNotices, (parked) => ({ parked }))

  /** Publishes the notice of a parked delivery, if it is parked in this run, and those of limits that were crossed. */
  async function noticeParked(delivery: Omit<Delivery, 'body'>): Promise<void> {
    await noticeParkedLimit(delivery.tenant)
    const eventType = 'webhook.delivery.parked'
    if (delivery.trial !== undefined || !(await concerns(delivery, eventType))) return
    const record = await archive.find(delivery.deliveryId)
    if (record?.state !== 'parked' || record.run !== delivery.run) return
    const data = parkedDataOf(record)
    if (data === undefined) return
    await publish(delivery, eventType, parkedEventIdOf(record.deliveryId, record.run), data)
  }

  /** Repeats the notice of a delivery that is parked. */
  async function noticeIfParked({ deliveryId }: Pick<Delivery, 'deliveryId'>): Promise<void> {
    const found = await archive.find(deliveryId)
    if (found?.state === 'parked') await noticeParked(found)
  }

  const afterSettled: AfterSettled = async (settled) => {
    if (mayBeParked(settled)) await noticeParked(settled.delivery)
  }

  return {
    failing: quietly(FAILING, async (delivery) => {
      const outage = await outages.unreported(delivery)
      if (outage === undefined) return
      const { subscriptionId, url } = delivery
      const { sinceMs, untilMs, failures, last } = outage
      const since = toIso(sinceMs)
      await publish(delivery, FAILING, noticeEventIdOf(subscriptionId, FAILING, sinceMs), {
        subscriptionId,
        url: withoutQuery(url),
        failures,
        since,
        until: toIso(untilMs),
        lastOutcome: outcomeNumber(last.outcome),
        lastStatus: last.status,
        occurredAt: since,
      })
      await outages.markReported(delivery, outage)
    }),
    recovered: quietly(RECOVERED, async (delivery) => {
      const outage = await outages.recordEnd(delivery)
      if (outage === undefined) return
      const { subscriptionId, url } = delivery
      const recoveredAt = toIso(outage.recoveredAtMs)
      await publish(delivery, RECOVERED, noticeEventIdOf(subscriptionId, RECOVERED, outage.recoveredAtMs), {
        subscriptionId,
        url: withoutQuery(url),
        since: toIso(outage.sinceMs),
        recoveredAt,
        occurredAt: recoveredAt,
      })
    }),
    noticeParked,
    noticeIfParked,
    afterSettled,
    /** Publishes, once per crossing, that the held deliveries of a subscription of the tenant come near their limit. */
    noticeHeldLimit: limitNotice('webhook.held.limit', heldLimitNotices, (held) => ({ held })),
  }
}

function parkedDataOf(record: DeliveryRecord) {
  const { deliveryId, subscriptionId, url, eventId, eventType, run, attempt, parkedReason, parkedAt, attempts } = record
  if (parkedReason === null || parkedAt === null) return undefined
  const last = attempts.at(-1)
  return {
    deliveryId,
    subscriptionId,
    url: withoutQuery(url),
    eventId,
    eventType,
    parkedReason: ParkedReasonNumber[parkedReason] ?? ParkedReasonNumber.unknown,
    run,
    attempts: attempt,
    lastOutcome: outcomeNumber(last?.outcome ?? 'unknown'),
    lastStatus: last?.status ?? null,
    parkedAt,
    occurredAt: parkedAt,
  }
}

/** A newer version may have stored an outcome that has no number in this one. */
const outcomeNumber = (outcome: keyof typeof OutcomeNumber): OutcomeNumber =>
  OutcomeNumber[outcome] ?? OutcomeNumber.unknown

const toIso = (ms: number): string => new Date(ms).toISOString()
