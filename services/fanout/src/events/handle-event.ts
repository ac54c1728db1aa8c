import {
  type Delivery,
  type EventType,
  type PlatformEvent,
  type Subscription,
  subjectOf,
  traceIdOf,
} from '@switchhook/contracts'
import type { LoggedEvent } from '@switchhook/store'
import { fanOut } from './fan-out.ts'
import { inParallel } from './in-parallel.ts'

export interface HandleEventDeps {
  /** Rejects when it cannot know: "none" is never the answer to an error. */
  readonly matching: (tenant: string | null, eventType: EventType) => Promise<readonly Subscription[]>
  /** Resolves once the delivery is stored. */
  readonly publishDelivery: (delivery: Delivery) => Promise<void>
  readonly now: () => Date
  /** Told of each event whose deliveries are all stored, for the delivery log; returns at once and never throws. */
  readonly remember: (event: LoggedEvent) => void
  /** Told of each event whose deliveries are all stored. */
  readonly fannedOut: (event: PlatformEvent, deliveries: number, tookMs: number) => void
  readonly log: { debug(message: string, fields: Readonly<Record<string, unknown>>): void }
}

/** Publishes of one event that wait for their confirms at a time: enough to hide the wait, few enough to be fair. */
const WIDTH = 100

/** Resolved: every delivery of the event is stored, so the event may be acked. Rejected: do it all again, later. */
export function createHandleEvent(deps: HandleEventDeps): (event: PlatformEvent) => Promise<void> {
  return async function handleEvent(event) {
    const { eventId, eventType, tenant, occurredAt, traceparent } = event
    const startedAt = performance.now()
    const subscriptions = await deps.matching(tenant, eventType)
    const fannedOutAt = deps.now().toISOString()
    const deliveries = fanOut(event, subscriptions, fannedOutAt)
    await inParallel(deliveries, WIDTH, (delivery) => deps.publishDelivery(delivery))
    const subscriptionIds = deliveries.map(({ subscriptionId }) => subscriptionId)
    const subject = subjectOf(event.data)
    deps.remember({ eventId, eventType, tenant, occurredAt, fannedOutAt, subscriptionIds, subject })
    deps.fannedOut(event, deliveries.length, performance.now() - startedAt)
    deps.log.debug('event fanned out', {
      ...(traceparent !== undefined && { traceId: traceIdOf(traceparent) }),
      eventId,
      eventType,
      tenant,
      deliveries: deliveries.length,
    })
  }
}
