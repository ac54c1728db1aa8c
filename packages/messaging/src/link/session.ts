import { Unavailable } from '@switchhook/contracts'
import { answerWithin, MIN_FRAME_BYTES, type ServerAddress } from '@switchhook/runtime'
import type { Channel, ChannelModel } from 'amqplib'
import { connect, toConnectOptions } from './connect.ts'

/** Where RabbitMQ is. Several URLs are the nodes of one cluster. */
export type BrokerAddress = Pick<ServerAddress, 'ca'> & { readonly url: string | readonly string[] }

/** One AMQP connection, from its set-up to its loss. */
export interface Session {
  readonly model: ChannelModel
  /** Gives the connection up; the link then opens a new one and sets it up from scratch. */
  readonly fail: (error: Error) => void
}

const CONNECT_TIMEOUT_MS = 10_000
const CLOSE_WITHIN_MS = 3_000

/** RabbitMQ, or `frameMax` in the URL, limits frames to less than the headers of some messages need. */
export class FramesTooSmall extends Error {
  override readonly name = 'FramesTooSmall'
}

/** A connection that does not reconnect. @throws Error */
export async function connectTo(url: string, name: string, ca: string | undefined): Promise<ChannelModel> {
  const model = await connect(toConnectOptions(url), {
    timeout: CONNECT_TIMEOUT_MS,
    noDelay: true,
    keepAlive: true,
    clientProperties: { connection_name: name },
    // Named, so that NODE_TLS_REJECT_UNAUTHORIZED=0 does not turn the check off.
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
  })
  model.on('error', () => {}) // The pending calls reject.
  const { frameMax } = model.connection as unknown as { readonly frameMax: number }
  // A message whose headers do not fit would cost the connection, again at each retry.
  if (frameMax >= MIN_FRAME_BYTES) return model
  await closeInTime(model).catch(() => {})
  throw new FramesTooSmall(`frame_max is ${frameMax}; at least ${MIN_FRAME_BYTES} bytes are needed`)
}

/** Tries each url once. @throws Unavailable */
export async function connectToAny({ url: urls, ca }: BrokerAddress, name: string): Promise<ChannelModel> {
  let cause: unknown
  for (const url of [urls].flat()) {
    try {
      return await connectTo(url, name, ca)
    } catch (error) {
      cause = error
    }
  }
  throw new Unavailable('rabbitmq', 'RabbitMQ cannot be reached', { cause })
}

/** Closes a connection or a channel. @throws Error if the broker does not confirm it in time */
export async function closeInTime(opened: { readonly close: () => Promise<unknown> }): Promise<void> {
  await answerWithin(CLOSE_WITHIN_MS, opened.close(), 'RabbitMQ did not confirm the close')
}

/**
 * Works on a channel that nothing else uses, because RabbitMQ closes a channel when it refuses a request. Closing it returns
 * the messages that `work` took and did not acknowledge. If `work` throws, its channel or connection must be closed.
 */
export async function onOwnChannel<T>(model: ChannelModel, work: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await model.createChannel()
  channel.on('error', () => {}) // The pending request rejects.
  const result = await work(channel)
  await channel.close()
  return result
}

/** Whether RabbitMQ refused a request with one of these codes. */
export const isRefusal = (error: unknown, ...codes: readonly number[]): boolean =>
  error instanceof Error && 'code' in error && codes.some((code) => code === error.code)

const NOT_FOUND = 404

/** Like `onOwnChannel`. Undefined: a queue that `work` asks for does not exist. */
export const ifQueueExists = <T>(model: ChannelModel, work: (channel: Channel) => Promise<T>): Promise<T | undefined> =>
  onOwnChannel(model, work).catch((error: unknown): undefined => {
    if (!isRefusal(error, NOT_FOUND)) throw error
  })

export const queueExists = async (model: ChannelModel, queue: string): Promise<boolean> =>
  (await ifQueueExists(model, (channel) => channel.checkQueue(queue))) !== undefined

export const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
