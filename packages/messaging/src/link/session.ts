import type { ChannelModel } from 'amqplib'

/** One AMQP connection, from its set-up to its loss. */
export interface Session {
  readonly model: ChannelModel
  /** Gives the connection up; the link then opens a new one and sets it up from scratch. */
  readonly fail: (error: Error) => void
}

export const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
