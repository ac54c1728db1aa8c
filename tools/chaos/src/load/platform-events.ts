import { setTimeout as sleep } from 'node:timers/promises'
import { newEventId, type PlatformEvent, Unavailable } from '@switchhook/contracts'
import { openBroker, serviceTopology } from '@switchhook/messaging'
import { createLogger } from '@switchhook/runtime'
import { anEvent } from '@switchhook/testkit'
import { publishEvent } from '../stack/broker-management.ts'
import { TENANT } from './client.ts'

const EVERY_MS = 90
/** Events that have not arrived. Without the bound, each recovery on a slow machine would take longer than the one before. */
const MAX_UNDER_WAY = 50
/** A broker that has lost everything never delivers them. */
const FORGOTTEN_MS = 180_000
const REPEAT_MS = 200
/** One event of this many is published twice in parallel, as by a platform that repeats what it is not sure of. */
const TWICE_EVERY = 5
/** Lets the run end even if the broker does not come back. */
const PATIENCE_MS = 60_000

type EventPublisher = ReturnType<typeof openManagementPublisher>

/**
 * Publishes events of another platform to `switchhook.events`, some of them twice, until each is confirmed.
 * @param hasArrived whether the healthy endpoint has the event
 */
export function startPlatformEvents(publisher: EventPublisher, hasArrived: (eventId: string) => boolean) {
  const confirmed: string[] = []
  const publishes = new Map<string, number>()
  const underWay = new Set<Promise<unknown>>()
  /** Ids of the events that are not known to have arrived, without those of bursts, and when they were begun. */
  const missing = new Map<string, number>()
  let repeats = 0
  let begun = 0
  let endsAtMs = Number.POSITIVE_INFINITY

  async function publish(event: PlatformEvent): Promise<void> {
    const { eventId } = event
    for (; ; repeats += 1, await sleep(REPEAT_MS)) {
      publishes.set(eventId, (publishes.get(eventId) ?? 0) + 1)
      if (await publisher.publish(event)) return void confirmed.push(eventId)
      if (Date.now() > endsAtMs) return
    }
  }

  function begin(event: PlatformEvent): void {
    const publishing = publish(event).finally(() => underWay.delete(publishing))
    underWay.add(publishing)
  }

  const timer = setInterval(() => {
    const nowMs = performance.now()
    for (const [eventId, sinceMs] of missing) {
      if (hasArrived(eventId) || nowMs - sinceMs > FORGOTTEN_MS) missing.delete(eventId)
    }
    if (missing.size >= MAX_UNDER_WAY) return
    const event = newEvent()
    missing.set(event.eventId, nowMs)
    begin(event)
    if (begun++ % TWICE_EVERY === 0) begin(event)
  }, EVERY_MS)

  return {
    /** Ids of the confirmed events; of an event that was published twice, two times. */
    confirmed,
    /** How many times each event was published, confirmed or not, by id. */
    publishes,
    /**
     * Publishes a batch of this many events twice at the same moment, in the background: backlogs and packets hold
     * duplicates.
     */
    burst: (events: number): void => {
      const batch = Array.from({ length: events }, newEvent)
      for (const event of [...batch, ...batch]) begin(event)
    },
    /** Number of publishes that were repeated because no confirm arrived. */
    repeats: () => repeats,
    /** Stops publishing. Resolves when every event that was begun is confirmed. */
    stop: async (): Promise<void> => {
      clearInterval(timer)
      endsAtMs = Date.now() + PATIENCE_MS
      await Promise.all(underWay)
      await publisher.close()
    },
  }
}

/** Publishes over AMQP and waits for the broker's confirm. */
export async function openConfirmedPublisher(url: string): Promise<EventPublisher> {
  const log = createLogger('chaos', 'error')
  const broker = await openBroker({ url, topology: serviceTopology([]), log, name: 'platform events' })
  return { publish: (event) => broker.publishEvent(event).then(() => true, notStored), close: () => broker.close() }
}

/** Returns false if the broker may not have the event. @throws any other error */
function notStored(error: unknown): boolean {
  if (error instanceof Unavailable) return false
  throw error
}

/**
 * Publishes over RabbitMQ's HTTP API, which declares nothing. It waits until the event is routed to a queue, not until
 * it is stored: for runs in which the broker is not disturbed.
 */
export const openManagementPublisher = (managementUrl: string) => ({
  /** Resolves to whether the broker has taken the event. */
  publish: (event: PlatformEvent): Promise<boolean> => publishEvent(managementUrl, event),
  close: async (): Promise<void> => {},
})

function newEvent(): PlatformEvent {
  const eventId = newEventId()
  const data = { eventId, remark: 'Grüße aus Köln ☎' }
  return anEvent({ eventId, occurredAt: new Date().toISOString(), tenant: TENANT, data })
}
