import { type Deadline, startDeadline } from '@switchhook/runtime'
import { type ConfirmChannel, IllegalOperationError } from 'amqplib'
import { type Session, toError } from '../link/session.ts'
import { type BrokerMeter, NO_METER } from '../meters.ts'
import { EventCopies } from './event-copies.ts'
import { NotStored, type OutgoingMessage, type Route } from './outgoing-message.ts'

export interface PublisherOptions {
  /** Called when the broker blocks or unblocks this connection. */
  readonly changed: () => void
  /** Called when the broker returns a message because no queue accepts it. */
  readonly returned?: (route: Route) => void
  readonly confirmTimeoutMs?: number
  /** A route on which no message was stored for this long costs the connection: the link then tries another node. */
  readonly stuckAfterMs?: number
  readonly meter?: Pick<BrokerMeter, 'confirmed' | 'failed'>
}

/** The time limit of a publish, from sending to its confirm. */
export const CONFIRM_TIMEOUT_MS = 10_000
/**
 * A node without a majority keeps its connections and confirms nothing. After a failover, channels were also seen that
 * refused every message.
 */
const STUCK_AFTER_MS = 30_000
/** In an alarm, the broker still confirms the messages that it had already read. It reads the others after the alarm. */
const CONFIRM_IN_ALARM_MS = 1_000

/** A message that was sent. */
interface Pending extends Route {
  readonly messageId: string | undefined
  readonly isCopy: boolean
  readonly channel: ConfirmChannel
  readonly deadline: Deadline
  readonly reject: (error: unknown) => void
  wasReturned: boolean
}

/** Publishes on one confirm channel. Each connection gets a new one. */
export class Publisher {
  readonly #options: Required<PublisherOptions>
  readonly #copies: EventCopies
  /** In the order of sending. */
  readonly #inFlight = new Set<Pending>()
  /** By route: since when every publish has failed. */
  readonly #failingSince = new Map<string, number>()
  #channel: ConfirmChannel | undefined
  #blocked = false
  #giveUp: Session['fail'] = () => {}

  constructor(options: PublisherOptions) {
    this.#options = {
      returned: () => {},
      confirmTimeoutMs: CONFIRM_TIMEOUT_MS,
      stuckAfterMs: STUCK_AFTER_MS,
      meter: NO_METER,
      ...options,
    }
    this.#copies = new EventCopies(this.#options.meter, (copy, timeoutMs) => this.#send(copy, timeoutMs, true))
  }

  /** Part of a connection's set-up: later publishes use this connection. */
  async attach({ model, fail }: Session): Promise<void> {
    this.#blocked = false
    this.#failingSince.clear()
    this.#copies.connected()
    const channel = await model.createConfirmChannel()
    channel.on('error', fail)
    channel.on('close', () => {
      if (this.#channel === channel) this.#channel = undefined
    })
    channel.on('return', ({ fields, properties }) => this.#markReturned({ ...fields, messageId: properties.messageId }))
    model.on('blocked', () => this.#setBlocked(true))
    model.on('unblocked', () => this.#setBlocked(false))
    this.#channel = channel
    this.#giveUp = fail
  }

  /**
   * RabbitMQ has a memory or disk alarm and reads nothing from this connection. It notifies only connections that publish,
   * so the first message after the alarm started is still sent.
   */
  isBlocked(): boolean {
    return this.#blocked
  }

  /**
   * Resolves once the broker has stored the message in at least one queue.
   * @throws Unavailable if it was not stored, or if that is unknown; an unconfirmed message may still be delivered
   */
  async publish(message: OutgoingMessage): Promise<void> {
    const { meter, confirmTimeoutMs } = this.#options
    const sentAt = performance.now()
    try {
      await this.#send(message, confirmTimeoutMs, false)
    } catch (error) {
      if (error instanceof NotStored) meter.failed(error.reason)
      throw error
    }
    meter.confirmed(performance.now() - sentAt)
  }

  /**
   * Publishes a copy for the queues that other systems have bound, see `EventCopies`.
   * @throws Unavailable if the broker cannot be reached or has an alarm
   */
  publishCopy(message: OutgoingMessage): Promise<void> {
    return this.#copies.publish(message)
  }

  /**
   * @param timeoutMs from sending to the confirm
   * @throws NotStored immediately if nothing is sent
   */
  #send(message: OutgoingMessage, timeoutMs: number, isCopy: boolean): Promise<void> {
    const channel = this.#channel
    if (channel === undefined) throw notConnected()
    if (this.#blocked) throw inAlarm()
    const { exchange, routingKey, content, properties } = message
    return new Promise((resolve, reject) => {
      const deadline = startDeadline(timeoutMs, () => {
        if (!this.#land(pending)) return
        this.#noteFailure(pending)
        reject(new NotStored('timeout', `no confirm within ${timeoutMs} ms`))
      })
      const { messageId } = properties
      const pending = { exchange, routingKey, messageId, isCopy, channel, deadline, reject, wasReturned: false }
      this.#inFlight.add(pending)
      try {
        // Without `mandatory` the broker confirms a message that no queue accepts.
        const options = { ...properties, mandatory: true, persistent: true }
        // After the deadline, what comes here changes nothing for the caller, but shows whether the route is stuck.
        channel.publish(exchange, routingKey, content, options, (error: unknown) => {
          this.#land(pending)
          if (error) {
            this.#noteFailure(pending)
            return reject(new NotStored('refused', 'RabbitMQ rejected the message', { cause: toError(error) }))
          }
          if (this.#failingSince.size > 0) this.#failingSince.delete(`${exchange} ${routingKey}`)
          if (pending.wasReturned) reject(new NotStored('unroutable', `no queue accepts ${routingKey} on ${exchange}`))
          else resolve()
        })
      } catch (error) {
        this.#land(pending)
        reject(error instanceof IllegalOperationError ? notConnected(error) : error)
      }
    })
  }

  /** Ends a publish. Returns whether it was in flight until now. */
  #land(pending: Pending): boolean {
    pending.deadline.stop()
    return this.#inFlight.delete(pending)
  }

  /** Copies, and failures on a replaced channel or during an alarm, do not count. */
  #noteFailure({ exchange, routingKey, channel, isCopy }: Pending): void {
    if (isCopy || this.#channel !== channel || this.#blocked) return
    const route = `${exchange} ${routingKey}`
    const since = this.#failingSince.get(route)
    if (since === undefined) this.#failingSince.set(route, performance.now())
    else if (performance.now() - since > this.#options.stuckAfterMs) {
      this.#giveUp(new Error(`no message was stored under ${routingKey} for ${this.#options.stuckAfterMs} ms`))
    }
  }

  /** RabbitMQ returns a message before it confirms it, and identifies it only by route and message id. */
  #markReturned(message: { exchange: string; routingKey: string; messageId: unknown }): void {
    const returned = [...this.#inFlight].find(
      ({ wasReturned, messageId, routingKey, exchange }) =>
        !wasReturned &&
        messageId === message.messageId &&
        routingKey === message.routingKey &&
        exchange === message.exchange,
    )
    if (returned !== undefined) returned.wasReturned = true
    this.#options.returned(message)
  }

  #setBlocked(blocked: boolean): void {
    this.#blocked = blocked
    if (blocked) this.#expireInFlight()
    this.#options.changed()
  }

  /** Publishers must not wait for the end of the alarm. A message that is read afterwards arrives as a duplicate. */
  #expireInFlight(): void {
    const sent = [...this.#inFlight]
    startDeadline(CONFIRM_IN_ALARM_MS, () => {
      if (!this.#blocked) return
      for (const pending of sent) if (this.#land(pending)) pending.reject(inAlarm())
    })
  }
}

const notConnected = (cause?: Error): NotStored =>
  new NotStored('not-connected', 'not connected to RabbitMQ', cause && { cause })

const inAlarm = (): NotStored => new NotStored('alarm', 'RabbitMQ accepts no messages: it has a memory or disk alarm')
