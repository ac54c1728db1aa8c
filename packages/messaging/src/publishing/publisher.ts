import { type Deadline, startDeadline } from '@switchhook/runtime'
import { type ConfirmChannel, IllegalOperationError } from 'amqplib'
import type { BrokerMeter } from '../broker-meter.ts'
import { closeInTime, type Session, toError } from '../link/session.ts'
import { NotStored, type OutgoingMessage, type Route } from '../message/message.ts'

export interface PublisherOptions {
  /** Called when the broker blocks or unblocks this connection. */
  readonly changed: () => void
  /** Called when the broker returns a message because no queue accepts it. */
  readonly returned?: (route: Route) => void
  readonly confirmTimeoutMs?: number
  /**
   * A route on which no message was stored for this long costs the channel. If the broker stored nothing on other routes
   * meanwhile, it costs the connection: the link then tries another node.
   */
  readonly stuckAfterMs?: number
  readonly meter?: Pick<BrokerMeter, 'confirmed' | 'failed'> | undefined
}

/** The time limit of a publish, from sending to its confirm. */
export const CONFIRM_TIMEOUT_MS = 10_000
/** The same of a copy: the queues of other systems must not delay the original. */
const COPY_CONFIRM_MS = 1_000
/** A node without a majority keeps its connections and confirms nothing. After a failover, some channels refused a queue's messages. */
const STUCK_AFTER_MS = 30_000
/** In an alarm, the broker still confirms the messages that it had already read. It reads the others after the alarm. */
const CONFIRM_IN_ALARM_MS = 1_000

interface Pending extends Route {
  readonly messageId: string | undefined
  readonly isCopy: boolean
  readonly channel: ConfirmChannel
  readonly deadline: Deadline
  readonly reject: (error: unknown) => void
  wasReturned: boolean
}

export type Publisher = ReturnType<typeof createPublisher>

/** Publishes on one confirm channel. Each connection gets a new one. */
export function createPublisher({
  changed,
  returned = () => {},
  confirmTimeoutMs = CONFIRM_TIMEOUT_MS,
  stuckAfterMs = STUCK_AFTER_MS,
  meter,
}: PublisherOptions) {
  /** In the order of sending. */
  const inFlight = new Set<Pending>()
  /** By route: since when every publish has failed, and the value of `stored` at that time. */
  const failing = new Map<string, { readonly since: number; readonly stored: number }>()
  let current: ConfirmChannel | undefined
  let attached: Session | undefined
  /** Messages stored on this connection. Without a majority, RabbitMQ may still confirm copies, and what it returns. */
  let stored = 0
  let isBlocked = false

  /** @param timeoutMs from sending to the confirm. @throws NotStored immediately if nothing is sent */
  function send(message: OutgoingMessage, timeoutMs: number, isCopy: boolean): Promise<void> {
    const channel = current
    if (channel === undefined) throw notConnected()
    if (isBlocked) throw inAlarm()
    const { exchange, routingKey, content, properties } = message
    const { messageId } = properties
    return new Promise((resolve, reject) => {
      const deadline = startDeadline(timeoutMs, () => {
        if (!land(pending)) return
        noteFailure(pending)
        reject(new NotStored('timeout', `no confirm within ${timeoutMs} ms`))
      })
      const pending = { exchange, routingKey, messageId, isCopy, channel, deadline, reject, wasReturned: false }
      inFlight.add(pending)
      try {
        // Without `mandatory` the broker confirms a message that no queue accepts.
        const options = { ...properties, mandatory: true, persistent: true }
        // After the deadline, what comes here changes nothing for the caller, but shows whether the route is stuck.
        channel.publish(exchange, routingKey, content, options, (error: unknown) => {
          land(pending)
          if (error) {
            noteFailure(pending)
            return reject(unconfirmed(toError(error)))
          }
          if (channel === current && !isCopy && !pending.wasReturned) stored += 1
          if (failing.size > 0) failing.delete(keyOf(pending))
          if (pending.wasReturned) reject(new NotStored('unroutable', `no queue accepts ${routingKey} on ${exchange}`))
          else resolve()
        })
      } catch (error) {
        land(pending)
        reject(error instanceof IllegalOperationError ? notConnected(error) : error)
      }
    })
  }

  /** Ends a publish. Returns whether it was in flight until now. */
  function land(pending: Pending): boolean {
    pending.deadline.stop()
    return inFlight.delete(pending)
  }

  /**
   * Copies, and failures on a replaced channel or during an alarm, do not count. A refusal does: without a majority, RabbitMQ
   * refuses what a new channel publishes.
   */
  function noteFailure(pending: Pending): void {
    const { channel, isCopy, routingKey } = pending
    if (isCopy || current !== channel || isBlocked || attached === undefined) return
    const route = keyOf(pending)
    const first = failing.get(route)
    if (first === undefined) failing.set(route, { since: performance.now(), stored })
    else if (performance.now() - first.since > stuckAfterMs) {
      if (stored > first.stored) void replaceChannel(attached, channel)
      else attached.fail(new Error(`no message was stored under ${routingKey} for ${stuckAfterMs} ms`))
    }
  }

  /** The former channel stays open until the deadlines of its messages. */
  async function replaceChannel(session: Session, former: ConfirmChannel): Promise<void> {
    failing.clear()
    await openChannel(session).catch((error: unknown) => session.fail(toError(error)))
    startDeadline(confirmTimeoutMs, () => void closeInTime(former).catch(() => {}))
  }

  async function openChannel(session: Session): Promise<void> {
    const channel = await session.model.createConfirmChannel()
    channel.on('error', session.fail)
    channel.on('close', () => {
      if (current === channel) current = undefined
    })
    channel.on('return', ({ fields, properties }) => markReturned(fields, properties.messageId))
    if (attached === session) current = channel
  }

  /** RabbitMQ returns a message before it confirms it, and identifies it only by route and message id. */
  function markReturned(route: Route, messageId: unknown): void {
    const found = [...inFlight].find(
      (pending) => !pending.wasReturned && pending.messageId === messageId && keyOf(pending) === keyOf(route),
    )
    if (found !== undefined) found.wasReturned = true
    returned(route)
  }

  function setBlocked(blocked: boolean): void {
    isBlocked = blocked
    changed()
    if (!blocked) return
    // Publishers must not wait for the end of the alarm. A message that is read afterwards arrives as a duplicate.
    const sent = [...inFlight]
    startDeadline(CONFIRM_IN_ALARM_MS, () => {
      if (isBlocked) for (const pending of sent) if (land(pending)) pending.reject(inAlarm())
    })
  }

  return {
    /** Part of a connection's set-up: later publishes use this connection. */
    async attach(session: Session): Promise<void> {
      attached = session
      current = undefined
      isBlocked = false
      stored = 0
      failing.clear()
      await openChannel(session)
      session.model.on('blocked', () => setBlocked(true))
      session.model.on('unblocked', () => setBlocked(false))
    },
    /**
     * RabbitMQ has a memory or disk alarm and reads nothing from this connection. It notifies only connections that publish,
     * so the first message after the alarm started is still sent.
     */
    isBlocked: (): boolean => isBlocked,
    /**
     * Resolves once the broker has stored the message in at least one queue.
     * @throws Unavailable if it was not stored, or if that is unknown; an unconfirmed message may still be delivered
     */
    async publish(message: OutgoingMessage): Promise<void> {
      const sentAt = performance.now()
      try {
        await send(message, confirmTimeoutMs, false)
      } catch (error) {
        if (error instanceof NotStored) meter?.failed(error.reason)
        throw error
      }
      meter?.confirmed(performance.now() - sentAt)
    },
    /** Publishes a copy for other systems, whose failures say nothing about our queues. @throws Unavailable as `publish` */
    publishCopy: async (message: OutgoingMessage): Promise<void> => await send(message, COPY_CONFIRM_MS, true),
  }
}

const keyOf = ({ exchange, routingKey }: Route): string => `${exchange} ${routingKey}`

const notConnected = (cause?: Error): NotStored =>
  new NotStored('not-connected', 'not connected to RabbitMQ', cause && { cause })

/** amqplib's error message for a negative confirm. A closed channel has a different one. */
const NACKED = 'message nacked'

const unconfirmed = (cause: Error): NotStored =>
  cause.message === NACKED
    ? new NotStored('refused', 'RabbitMQ rejected the message', { cause })
    : new NotStored('not-connected', 'the connection to RabbitMQ ended before the confirm', { cause })

const inAlarm = (): NotStored => new NotStored('alarm', 'RabbitMQ accepts no messages: it has a memory or disk alarm')
