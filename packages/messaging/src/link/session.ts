import { answerWithin } from '@switchhook/runtime'
import type { ChannelModel } from 'amqplib'

/** One AMQP connection, from its set-up to its loss. */
export interface Session {
  readonly model: ChannelModel
  /** Gives the connection up; the link then opens a new one and sets it up from scratch. */
  readonly fail: (error: Error) => void
}

const CLOSE_WITHIN_MS = 3_000

/**
 * Closes a connection or a channel.
 * @throws Error if the broker does not confirm it in time
 */
export async function closeInTime(opened: { readonly close: () => Promise<unknown> }): Promise<void> {
  await answerWithin(CLOSE_WITHIN_MS, opened.close(), 'RabbitMQ did not confirm the close')
}

export const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
