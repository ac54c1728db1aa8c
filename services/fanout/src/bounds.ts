import { MAX_PACKET_EVENTS } from '@switchhook/messaging'
import type { FanoutConfig } from './config.ts'

/**
 * Events received and not acknowledged, for each that is being handled. In a burst most of them wait for the confirm of a
 * packet, so the window limits the events a second; with 512 events in all, `fanout.events` grew during a burst.
 */
const WINDOW_DEPTH = 32
/** The prefetch count of AMQP has 16 bits. */
const MAX_WINDOW = 65_535
/** Packets that are received per backlog: the next one is there when one is finished. */
const PACKETS_PER_BACKLOG = 2
/** Of the concurrently handled events, those from backlogs. */
const BACKLOG_PART = 0.5

export type Bounds = ReturnType<typeof boundsOf>

/** What bounds the events of one process, from the queue to their deliveries. docs/architecture.md lists what each of them counts. */
export function boundsOf({ FANOUT_CONCURRENCY: all }: Pick<FanoutConfig, 'FANOUT_CONCURRENCY'>, eventShards: number) {
  return {
    prefetch: {
      events: Math.min(MAX_WINDOW, Math.ceil((all * WINDOW_DEPTH) / eventShards)),
      // As many events as the window has, if the packets are full.
      packets: Math.ceil((all * WINDOW_DEPTH) / MAX_PACKET_EVENTS / eventShards),
      backlog: PACKETS_PER_BACKLOG,
    },
    handled: { direct: all, fromBacklogs: Math.ceil(all * BACKLOG_PART) },
  }
}
