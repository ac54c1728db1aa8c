import type { StackFile } from '@switchhook/local'
import { openManagement } from '../measure/management.ts'

/** Collects the events that are published while it is open in its own queue. */
export interface EventTap {
  /** Removes and returns the events collected so far. */
  take(): Promise<readonly TappedEvent[]>
  close(): Promise<void>
}

export interface TappedEvent {
  readonly eventType: string
  readonly data: {
    readonly callId?: string
    readonly agentUri: string
    readonly sequence: number
    readonly state?: number
  }
}

const QUEUE = 'bench.events'
const CHUNK = 2_000
/** The services publish copies of events from at most a second after the binding. */
const BOUND_MS = 1_500

/** Uses the broker's management API. */
export async function openEventTap(stack: StackFile): Promise<EventTap> {
  const { ask } = openManagement(stack)
  await ask('PUT', `/queues/%2F/${QUEUE}`, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
  await ask('POST', `/bindings/%2F/e/switchhook.events/q/${QUEUE}`, { routing_key: '#' })
  await new Promise((resolve) => setTimeout(resolve, BOUND_MS))
  return {
    async take() {
      const events: TappedEvent[] = []
      for (;;) {
        const got = await ask<readonly { readonly payload: string }[]>('POST', `/queues/%2F/${QUEUE}/get`, {
          count: CHUNK,
          ackmode: 'ack_requeue_false',
          encoding: 'auto',
        })
        if (got.length === 0) return events
        events.push(...got.map(({ payload }) => JSON.parse(payload) as TappedEvent))
      }
    },
    close: () => ask('DELETE', `/queues/%2F/${QUEUE}`),
  }
}
