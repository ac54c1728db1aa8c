import type { ConfirmChannel } from 'amqplib'
import type { Bench } from '../bench.ts'
import type { Publish } from '../load/endpoints.ts'

/** Concurrent deliveries of a side, over all its processes. */
export const CONCURRENCY = 200

/** One way to make deliveries. */
export interface Baseline {
  /** Pids of its processes by part, for the processor time. */
  readonly processes: Readonly<Record<string, readonly number[]>>
  readonly publish: Publish
}

export interface BaselineOptions extends Pick<Bench, 'stack' | 'defer'> {
  readonly channel: ConfirmChannel
  /** Where every POST goes. */
  readonly url: string
  /** Deliveries that one event becomes. */
  readonly perEvent: number
  /** Events that share a message, where the side can open such messages. */
  readonly eventsPerMessage: number
}
