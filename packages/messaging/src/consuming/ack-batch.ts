import { atSharedWake, RARE_WAKE_MS } from '@switchhook/runtime'
import { type Channel, IllegalOperationError, type Message } from 'amqplib'

/** How long acknowledgements are gathered once there are many, so that the broker soon sends further messages. */
const GATHER_MANY_MS = 5
/** Of the prefetch. Until they are sent, their messages count towards those that the broker sends. */
const MANY = 1 / 8
/** Of the prefetch, the acknowledgements that wait for those of earlier messages. The oldest further ones are sent. */
const MAX_DELAYED = 0.25

/** A message that was handled, and whose acknowledgement was not sent. */
interface Done {
  readonly message: Message
  /** By `performance.now()`. */
  readonly doneAtMs: number
}

/**
 * Batches the acknowledgements of one channel into as few as possible: one `multiple` ack covers every message up to the
 * oldest that is still in flight (docs/performance.md#acknowledgements-are-batched says why). Every message of the channel
 * must be registered with `taken`, or a `multiple` ack would cover it too early.
 * @param prefetch of the channel. Many acks do not wait for the next shared wake-up (`RARE_WAKE_MS`): an eighth of it, or half of what
 *   messages in flight leave of it
 * @param delayMs how long an ack waits for those of earlier messages, which may take long: until the next shared wake-up after it
 */
export function createAckBatch(channel: Channel, prefetch: number, delayMs: number) {
  /** Delivery tags of the messages in flight. They arrive in ascending order, so the first one is the lowest. */
  const inFlight = new Set<number>()
  /** In the order of their ends. */
  let ended: Done[] = []
  /** Since the last acks were sent. */
  let gathered = 0
  let isWaiting = false
  let isClosed = false
  let gathering: NodeJS.Timeout | undefined

  /** @param waitMs acks that are younger wait for those of earlier messages, as far as `MAX_DELAYED` allows */
  function send(waitMs: number): void {
    clearTimeout(gathering)
    gathering = undefined
    gathered = 0
    const [oldestInFlight = Infinity] = inFlight
    let upTo: Message | undefined
    const later: Done[] = []
    for (const each of ended) {
      const { deliveryTag } = each.message.fields
      if (deliveryTag > oldestInFlight) later.push(each)
      else if (upTo === undefined || deliveryTag > upTo.fields.deliveryTag) upTo = each.message
    }
    const delayedSinceMs = performance.now() - waitMs
    const overdue = later.filter(({ doneAtMs }) => doneAtMs <= delayedSinceMs).length
    const single = later.splice(0, Math.max(overdue, Math.ceil(later.length - prefetch * MAX_DELAYED)))
    ended = later
    if (ended.length > 0) sendAtWake()
    answer(() => {
      if (upTo !== undefined) channel.ack(upTo, true)
      for (const { message } of single) channel.ack(message)
    })
  }

  function sendAtWake(): void {
    if (isWaiting) return
    isWaiting = true
    atSharedWake(() => {
      isWaiting = false
      if (ended.length > 0) send(delayMs)
    }, RARE_WAKE_MS)
  }

  return {
    /** Must be called for each message before `done` or `returned`. */
    taken: ({ fields }: Message): void => void inFlight.add(fields.deliveryTag),
    inFlight: (): number => inFlight.size,
    done(message: Message): void {
      if (isClosed) return
      inFlight.delete(message.fields.deliveryTag)
      ended.push({ message, doneAtMs: performance.now() })
      gathered += 1
      const many = Math.min(prefetch * MANY, (prefetch - inFlight.size) / 2)
      // oxlint-disable-next-line no-restricted-globals -- gathers acknowledgements: no answer is awaited
      if (gathered >= many) gathering ??= setTimeout(() => send(delayMs), GATHER_MANY_MS)
      else sendAtWake()
    },
    /** Gives the message back with `nack`, unless the batch is closed: then the broker redelivers the message anyway. */
    returned({ fields }: Message, nack: () => void): void {
      inFlight.delete(fields.deliveryTag)
      if (!isClosed) answer(nack)
    },
    /** Sends all acks and clears the timer, so that no ack follows: it would cover the messages that are not nacked any more. */
    close(): void {
      isClosed = true
      send(0)
    },
  }
}

/** Ignores a lost channel: the broker redelivers its messages anyway. */
function answer(send: () => void): void {
  try {
    send()
  } catch (error) {
    if (!(error instanceof IllegalOperationError)) throw error
  }
}
