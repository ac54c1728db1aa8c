import { Unavailable } from '@switchhook/contracts'
import { startDeadline } from '@switchhook/runtime'
import { type ConfirmChannel, IllegalOperationError } from 'amqplib'
import { type Session, toError } from '../link/session.ts'
import { type BrokerMeter, NO_METER, type PublishFailure } from '../meters.ts'
import { EventCopies } from './event-copies.ts'
import { land, type OutgoingMessage, type Pending, type PublishMode, type Route, unavailable } from './publish-mode.ts'

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

/** Publishes on one confirm channel. Each connection gets a new one. */
export class Publisher {
  readonly #options: Required<PublisherOptions>
  readonly #originals: PublishMode
  readonly #copies: EventCopies
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
    const { confirmTimeoutMs, meter } = this.#options
    this.#originals = {
      // Without `mandatory` the broker confirms a message that no queue accepts.
      mandatory: true,
      timeoutMs: confirmTimeoutMs,
      inFlight: new Set(),
      timedOut: (pending) => {
        this.#noteFailure(pending)
        this.#fail(pending, new Unavailable('rabbitmq', `no confirm within ${confirmTimeoutMs} ms`), 'timeout')
      },
      notSent: (reason) => meter.failed(reason),
      refused: (pending, cause, isLate) => {
        this.#noteFailure(pending)
        if (isLate) return
        this.#fail(pending, new Unavailable('rabbitmq', 'RabbitMQ rejected the message', { cause }), 'refused')
      },
      confirmed: (pending, isLate) => this.#confirm(pending, isLate),
    }
    this.#copies = new EventCopies(meter)
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
  publish(message: OutgoingMessage): Promise<void> {
    return this.#send(message, this.#originals)
  }

  /**
   * Publishes a copy for the queues that other systems have bound, see `EventCopies`.
   * @throws Unavailable if the broker cannot be reached or has an alarm
   */
  publishCopy(message: OutgoingMessage): Promise<void> {
    const mode = this.#copies.modeFor(message.routingKey)
    return mode === undefined ? Promise.resolve() : this.#send(message, mode)
  }

  #send({ exchange, routingKey, content, properties }: OutgoingMessage, mode: PublishMode): Promise<void> {
    const channel = this.#channel
    if (channel === undefined || this.#blocked) {
      mode.notSent(channel === undefined ? 'not-connected' : 'alarm')
      return Promise.reject(channel === undefined ? unavailable() : inAlarm())
    }
    return new Promise((resolve, reject) => {
      const { messageId } = properties
      const sentAt = performance.now()
      const deadline = startDeadline(mode.timeoutMs, () => land(pending) && mode.timedOut(pending))
      const pending: Pending = {
        exchange,
        routingKey,
        messageId,
        channel,
        mode,
        sentAt,
        deadline,
        resolve,
        reject,
        wasReturned: false,
      }
      mode.inFlight.add(pending)
      try {
        const options = { ...properties, mandatory: mode.mandatory, persistent: true }
        channel.publish(exchange, routingKey, content, options, (error: unknown) => {
          const isLate = !land(pending)
          if (error) mode.refused(pending, toError(error), isLate)
          else mode.confirmed(pending, isLate)
        })
        if (mode.timeoutMs === 0 && land(pending)) resolve()
      } catch (error) {
        land(pending)
        if (error instanceof IllegalOperationError) this.#fail(pending, unavailable(error), 'not-connected')
        else reject(error)
      }
    })
  }

  #confirm({ exchange, routingKey, wasReturned, sentAt, resolve, reject }: Pending, isLate: boolean): void {
    // A late confirm shows as well that the route is not stuck.
    if (this.#failingSince.size > 0) this.#failingSince.delete(`${exchange} ${routingKey}`)
    if (isLate) return
    if (wasReturned) {
      this.#options.meter.failed('unroutable')
      return reject(new Unavailable('rabbitmq', `no queue accepts ${routingKey} on ${exchange}`))
    }
    this.#options.meter.confirmed(performance.now() - sentAt)
    resolve()
  }

  #fail({ reject }: Pending, error: Error, reason: PublishFailure): void {
    this.#options.meter.failed(reason)
    reject(error)
  }

  /** Failures on a replaced channel or during an alarm do not count. */
  #noteFailure({ exchange, routingKey, channel }: Pending): void {
    if (this.#channel !== channel || this.#blocked) return
    const route = `${exchange} ${routingKey}`
    const since = this.#failingSince.get(route)
    if (since === undefined) this.#failingSince.set(route, performance.now())
    else if (performance.now() - since > this.#options.stuckAfterMs) {
      this.#giveUp(new Error(`no message was stored under ${routingKey} for ${this.#options.stuckAfterMs} ms`))
    }
  }

  /** RabbitMQ returns a message before it confirms it, and identifies it only by route and message id. */
  #markReturned(message: { exchange: string; routingKey: string; messageId: unknown }): void {
    const returned = this.#inFlight().find(
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

  #inFlight(): Pending[] {
    return [this.#originals, ...this.#copies.modes()].flatMap(({ inFlight }) => [...inFlight])
  }

  /** Publishers must not wait for the end of the alarm. A message that is read afterwards arrives as a duplicate. */
  #expireInFlight(): void {
    const sent = this.#inFlight()
    startDeadline(CONFIRM_IN_ALARM_MS, () => {
      if (!this.#blocked) return
      for (const pending of sent) if (land(pending)) this.#fail(pending, inAlarm(), 'alarm')
    })
  }
}

const inAlarm = (): Unavailable =>
  new Unavailable('rabbitmq', 'RabbitMQ accepts no messages: it has a memory or disk alarm')
