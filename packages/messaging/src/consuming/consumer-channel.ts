import { answerWithin, NotAnswered } from '@switchhook/runtime'
import type { Channel, ConsumeMessage } from 'amqplib'
import { closeInTime, type Session, toError } from '../link/session.ts'
import { createAckBatch } from './ack-batch.ts'
import type { ConsumeOptions, ConsumerDeps, ConsumerTiming } from './consume-options.ts'

export interface ConsumerChannelOptions
  extends Pick<ConsumeOptions<unknown>, 'queue' | 'concurrency' | 'ackDelayMs'>,
    Pick<ConsumerDeps, 'name'>,
    Pick<ConsumerTiming, 'answerMs' | 'redeclareAfterMs'> {
  readonly take: (message: ConsumeMessage, from: ConsumerChannel) => void
  /** The broker did not answer the cancel, so it may send further messages on this channel. */
  readonly unanswered: () => void
}

/** What happens to a message after handling. `return`: back to the queue. `failed`: back, counted as a failure. */
export type Disposition = 'done' | 'return' | 'failed'

/** A queue and its consumer at one moment, as seen by the broker and by this channel. */
export interface Sighting {
  /** Consumers of the queue, those of other processes included. */
  readonly consumers: number
  /** Messages received on this channel since it was opened. */
  readonly taken: number
  /** Messages were ready, and the channel had room for them. */
  readonly couldTake: boolean
}

/** Consecutive checks that must miss the consumer: a single one may fall into a leader election of the queue. */
const MISSES_TO_REPORT = 2

/** How long the broker may take to close a channel that was given up, as a multiple of `answerMs`. */
const ANSWERS_TO_ABANDON = 3

export type ConsumerChannel = Awaited<ReturnType<typeof openConsumerChannel>>

/** @throws Error if RabbitMQ opens no channel in time */
export async function openConsumerChannel(session: Session, options: ConsumerChannelOptions) {
  const { queue, concurrency, answerMs } = options
  const opening = session.model.createChannel().then(async (channel) => {
    const opened = createConsumerChannel(session, channel, options)
    await channel.prefetch(concurrency)
    return opened
  })
  return await answerWithin(answerMs, opening, `RabbitMQ opened no channel for ${queue}`)
}

/**
 * One queue's consumer on one channel of one connection. The consumer tags and the acknowledgements belong to the
 * channel, never to the next one. If the broker refuses a request or closes the channel, the session fails and the link
 * reconnects: the next connection declares the topology again. A queue that does not answer costs only this channel.
 */
function createConsumerChannel(session: Session, channel: Channel, options: ConsumerChannelOptions) {
  const { queue, concurrency, ackDelayMs = 0, name, answerMs, redeclareAfterMs, take, unanswered } = options
  const acks = createAckBatch(channel, concurrency, ackDelayMs)
  let tag: string | undefined
  let tags = 0
  let isConfirmed = false
  let isRetired = false
  let taken = 0
  let seen: Sighting | undefined
  let misses = 0

  channel.on('error', session.fail)
  channel.on('close', () => {
    if (isRetired) return
    session.fail(new Error(`the channel that consumes ${queue} was closed`))
    retire()
  })

  function retire(): void {
    isRetired = true
    acks.close()
  }

  function receive(message: ConsumeMessage | null): void {
    if (message === null) return cancelled()
    // This process cannot acknowledge on a replaced channel; the broker redelivers the message.
    if (isRetired) return
    taken += 1
    acks.taken(message)
    take(message, self)
  }

  /** The broker cancels a consumer when its queue is deleted. */
  function cancelled(): void {
    isConfirmed = false
    // oxlint-disable-next-line no-restricted-globals -- waits for no answer
    setTimeout(() => {
      if (!isRetired) session.fail(new Error(`RabbitMQ cancelled the consumer of ${queue}`))
    }, redeclareAfterMs).unref()
  }

  async function consume(own: string): Promise<void> {
    await channel.consume(queue, receive, { consumerTag: own })
    // Perhaps long after the time limit.
    isConfirmed = tag === own
  }

  async function inspect(): Promise<string | undefined> {
    const before = seen
    seen = undefined
    try {
      const asking = channel.checkQueue(queue)
      const answer = await answerWithin(answerMs, asking, `RabbitMQ did not answer the check of ${queue}`)
      const { consumerCount: consumers, messageCount: ready } = answer
      seen = { consumers, taken, couldTake: ready > 0 && acks.inFlight() < concurrency }
      if (!isConsumerMissing(before, seen)) return undefined
      return `the queue has ${consumers} consumers and ${ready} ready messages, and none arrived`
    } catch (error) {
      return toError(error).message
    }
  }

  const self = {
    session,
    /** The broker has confirmed the consumer on this channel, and nothing has cancelled it since. */
    isConsuming: (): boolean => isConfirmed && !isRetired,
    /** This channel is lost or replaced: the broker redelivers its unacknowledged messages elsewhere. */
    isRetired: (): boolean => isRetired,
    /** Sends the acknowledgements so far. The channel then sends neither acknowledgements nor returns. */
    retire,
    async subscribe(): Promise<void> {
      if (tag !== undefined || isRetired) return
      tag = `${name}.${queue}.${++tags}`
      try {
        await answerWithin(answerMs, consume(tag), `RabbitMQ did not confirm the consumer of ${queue}`)
      } catch (error) {
        // The checks miss a consumer that is not confirmed.
        if (!(error instanceof NotAnswered)) session.fail(toError(error))
      }
    },
    /** Resolves when the broker sends no more messages, or when the channel is given up. */
    async unsubscribe(): Promise<void> {
      const former = tag
      tag = undefined
      isConfirmed = false
      if (former === undefined || isRetired) return
      try {
        await answerWithin(answerMs, channel.cancel(former), `RabbitMQ did not cancel the consumer of ${queue}`)
      } catch (error) {
        if (!(error instanceof NotAnswered)) session.fail(toError(error))
        // A channel that is retired meanwhile has a successor, perhaps on another connection.
        else if (!isRetired) unanswered()
      }
    },
    /** Must be called once for each message. From RabbitMQ 4.3 on only a failure counts towards the delivery limit. */
    end(message: ConsumeMessage, disposition: Disposition): void {
      if (disposition === 'done') acks.done(message)
      else if (disposition === 'failed') acks.returned(message, () => channel.reject(message, true))
      else acks.returned(message, () => channel.nack(message, false, true))
    },
    /** Asks the broker for the consumer, independent of this process's own state. Resolves to the problem if it repeats. */
    async findProblem(): Promise<string | undefined> {
      const problem = self.isConsuming() ? await inspect() : 'the broker has not confirmed the consumer'
      misses = problem === undefined ? 0 : misses + 1
      return misses < MISSES_TO_REPORT ? undefined : problem
    },
    /** The last check shows that this channel is served. Ready messages of which none ever arrived leave it open. */
    isServed: (): boolean => misses === 0 && seen !== undefined && (seen.taken > 0 || !seen.couldTake),
    /** Closes the channel before its connection, so that the broker reads the last acknowledgements. */
    async close(): Promise<void> {
      retire()
      await closeInTime(channel).catch(() => {})
    },
    /** Gives the channel up, but not its connection. The broker redelivers the unacknowledged messages once it closes it. */
    async abandon(): Promise<void> {
      retire()
      const late = `RabbitMQ did not close a channel that consumed ${queue}`
      await answerWithin(ANSWERS_TO_ABANDON * answerMs, channel.close(), late).catch((error: unknown) => {
        // Otherwise the broker would withhold the messages that it sent on this channel. If a queue does not answer a consume,
        // RabbitMQ 4 closes the connection itself after 90 s, and serves none of its consumers in the last 20 s.
        if (error instanceof NotAnswered) session.fail(error)
      })
    },
  }
  return self
}

/**
 * Whether a consumer is missing from its queue. Either the queue has no consumer at all, or this one could take messages at
 * two sightings and none arrived: that finds a missing consumer while other replicas still have theirs.
 */
export const isConsumerMissing = (before: Sighting | undefined, now: Sighting): boolean =>
  now.consumers === 0 || (before?.couldTake === true && now.couldTake && before.taken === now.taken)
