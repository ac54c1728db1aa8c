import { setTimeout as sleep } from 'node:timers/promises'
import { newEventId, type PlatformEvent, Unavailable } from '@switchhook/contracts'
import { type Broker, openBroker, serviceTopology } from '@switchhook/messaging'
import { createLogger } from '@switchhook/runtime'
import { TENANT } from './client.ts'

/** Publishes events as the services do, and repeats each one until its publish is confirmed. */
export interface OwnEvents {
  /** Ids of events whose publish was confirmed. */
  readonly confirmed: readonly string[]
  /** Publishes of events that had been published before, as nobody knew whether they had arrived. */
  repeats(): number
  /** Publishes no new ones, and resolves when those that were begun are confirmed. */
  stop(): Promise<void>
}

const EVERY_MS = 90
/** While the broker is away, load is not heaped up. */
const MOST_UNCONFIRMED = 50
const REPEAT_MS = 200
/** A broker that does not come back must not keep the run from its end. */
const PATIENCE_MS = 60_000

export async function startOwnEvents(amqpUrl: string): Promise<OwnEvents> {
  const broker = await openBroker({
    url: amqpUrl,
    topology: serviceTopology([]),
    log: createLogger('chaos', 'error'),
    name: 'own events',
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

  const timer = setInterval(() => {
    if (underWay.size >= MOST_UNCONFIRMED) return
    const publishing = publish().finally(() => underWay.delete(publishing))
    underWay.add(publishing)
  }, EVERY_MS)

  return {
    confirmed,
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
