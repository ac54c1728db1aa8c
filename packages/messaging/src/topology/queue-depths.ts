import { Unavailable } from '@switchhook/contracts'
import { answerWithin } from '@switchhook/runtime'
import type { Channel } from 'amqplib'
import { type Session, toError } from '../link/session.ts'

const ANSWER_TIMEOUT_MS = 5_000

/**
 * Reads how many messages are ready in queues, without those that consumers hold. On a channel of its own: RabbitMQ closes
 * the channel when a queue does not exist.
 */
export function createQueueDepths(current: () => Session | undefined) {
  let opened: { readonly on: Session; readonly channel: Promise<Channel> } | undefined

  /** @throws Unavailable without a connection, without an answer, or if a queue does not exist */
  return async (queues: readonly string[]): Promise<readonly number[]> => {
    const session = current()
    if (session === undefined) throw new Unavailable('rabbitmq', 'not connected to RabbitMQ')
    if (opened?.on !== session) opened = { on: session, channel: openChannel(session) }
    const mine = opened
    try {
      const reading = mine.channel.then((channel) => Promise.all(queues.map((queue) => channel.checkQueue(queue))))
      const answers = await answerWithin(ANSWER_TIMEOUT_MS, reading, `no answer within ${ANSWER_TIMEOUT_MS} ms`)
      return answers.map(({ messageCount }) => messageCount)
    } catch (error) {
      if (opened === mine) opened = undefined
      mine.channel.then((channel) => channel.close()).catch(() => {})
      throw new Unavailable('rabbitmq', 'RabbitMQ did not report its queues', { cause: toError(error) })
    }
  }
}

async function openChannel({ model }: Session): Promise<Channel> {
  const channel = await model.createChannel()
  channel.on('error', () => {}) // The pending read rejects.
  return channel
}
