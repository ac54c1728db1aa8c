import { setTimeout as sleep } from 'node:timers/promises'
import { newEventId, type PlatformEvent, Unavailable } from '@switchhook/contracts'
import { type Broker, openBroker, serviceTopology } from '@switchhook/messaging'
import { createLogger } from '@switchhook/runtime'
import { TENANT } from './client.ts'

/** Publishes events of another platform to `switchhook.events`, and repeats each one until it is confirmed. */
export interface PlatformEvents {
  /** Ids of the confirmed events. */
  readonly confirmed: readonly string[]
  /** Publishes this many events at once, in the background. */
  burst(events: number): void
  /** Number of publishes that were repeated because no confirm arrived. */
  repeats(): number
  /** Stops publishing. Resolves when every event that was begun is confirmed. */
  stop(): Promise<void>
}

const EVERY_MS = 90
/** Bounds the events that wait for a confirm while the broker is down. */
const MOST_UNCONFIRMED = 50
const REPEAT_MS = 200
/** Lets the run end even if the broker does not come back. */
const PATIENCE_MS = 60_000

export async function startPlatformEvents(amqpUrl: string): Promise<PlatformEvents> {
  const broker = await openBroker({
    url: amqpUrl,
    topology: serviceTopology([]),
    log: createLogger('chaos', 'error'),
    name: 'platform events',
  })
  const confirmed: string[] = []
  const underWay = new Set<Promise<unknown>>()
  let repeats = 0
  let endsAtMs = Number.POSITIVE_INFINITY

  async function publish(): Promise<void> {
    const event = newEvent()
    while (!(await isConfirmed(broker, event))) {
      if (Date.now() > endsAtMs) return
      repeats += 1
      await sleep(REPEAT_MS)
    }
    confirmed.push(event.eventId)
  }

  function begin(): void {
    const publishing = publish().finally(() => underWay.delete(publishing))
    underWay.add(publishing)
  }

  const timer = setInterval(() => {
    if (underWay.size < MOST_UNCONFIRMED) begin()
  }, EVERY_MS)

  return {
    confirmed,
    burst: (events) => {
      for (let n = 0; n < events; n += 1) begin()
    },
    repeats: () => repeats,
    stop: async () => {
      clearInterval(timer)
      endsAtMs = Date.now() + PATIENCE_MS
      await Promise.all(underWay)
      await broker.close()
    },
  }
}

async function isConfirmed(broker: Broker, event: PlatformEvent): Promise<boolean> {
  try {
    await broker.publishEvent(event)
    return true
  } catch (error) {
    if (error instanceof Unavailable) return false
    throw error
  }
}

function newEvent(): PlatformEvent {
  const eventId = newEventId()
  return {
    eventId,
    eventType: 'call.status',
    occurredAt: new Date().toISOString(),
    tenant: TENANT,
    data: { eventId, remark: 'Grüße aus Köln ☎' },
  }
}
