import type { StackFile } from '@switchhook/local'
import type { ConfirmChannel } from 'amqplib'

/** One way to make deliveries. */
export interface Baseline {
  /** Pids of its processes by part, for the processor time. */
  readonly processes: Readonly<Record<string, readonly number[]>>
  /** Hands over this many deliveries; resolves once they are stored. */
  readonly publish: (deliveries: number) => Promise<void>
  readonly close: () => Promise<void>
}

export interface BaselineOptions {
  readonly stack: StackFile
  readonly channel: ConfirmChannel
  /** Where every POST goes. */
  readonly url: string
  /** Deliveries that one event becomes. */
  readonly perEvent: number
  /** Events that share a message, where the side can open such messages. */
  readonly eventsPerMessage: number
  /** Concurrent deliveries, over all processes of the baseline. */
  readonly concurrency: number
}
