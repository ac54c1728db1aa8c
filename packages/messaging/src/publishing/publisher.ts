import { Unavailable } from '@switchhook/contracts'
import { type Deadline, startDeadline } from '@switchhook/runtime'
import { type ConfirmChannel, IllegalOperationError, type Options } from 'amqplib'
import { type Session, toError } from '../link/session.ts'
import { type BrokerMeter, NO_METER, type PublishFailure } from '../meters.ts'

export interface OutgoingMessage {
  readonly exchange: string
  readonly routingKey: string
  readonly content: Buffer
  readonly properties: Readonly<
    Pick<
      Options.Publish,
      'appId' | 'contentEncoding' | 'contentType' | 'correlationId' | 'headers' | 'messageId' | 'timestamp' | 'type'
    >
  >
}

/** A publish that was sent. */
interface Pending extends Route {
  readonly messageId: string | undefined
  readonly channel: ConfirmChannel
  readonly mode: PublishMode
  readonly sentAt: number
  readonly deadline: Deadline
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  wasReturned: boolean
}

/** What publishes of one kind have in common. */
interface PublishMode {
  readonly mandatory: boolean
  /** From sending to the confirm. 0: the publish does not wait for it. */
  readonly timeoutMs: number
  /** In the order of sending. */
  readonly inFlight: Set<Pending>
  /** The publish was not confirmed in time, and is no longer in flight. */
  readonly timedOut: (pending: Pending) => void
  /** Called with the reason why nothing was sent. */
  readonly notSent: (reason: PublishFailure) => void
  /** @param isLate the publish has timed out before; its result does not change any more */
  readonly refused: (pending: Pending, cause: Error, isLate: boolean) => void
  readonly confirmed: (pending: Pending, isLate: boolean) => void
}

export type Route = Pick<OutgoingMessage, 'exchange' | 'routingKey'>

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

/** The time limit of a copy's confirm. */
const COPY_CONFIRM_MS = 1_000
/** After an unconfirmed copy, copies are sent without waiting for their confirms for this long. */
const COPIES_SLOW_MS = 10_000
/** After a copy that no queue accepted, the next copy with its routing key is sent this long afterwards. */
const UNBOUND_MS = 1_000
/** amqplib's error message for a negative confirm. A closed channel has a different one. */
const NACKED = 'message nacked'

/** Publishes on one confirm channel. Each connection gets a new one. */
export class Publisher {
  readonly #changed: () => void
  readonly #returned: (route: Route) => void
  readonly #stuckAfterMs: number
  readonly #meter: Pick<BrokerMeter, 'confirmed' | 'failed'>
  readonly #originals: PublishMode
  readonly #copies: PublishMode
  /** Copies that do not wait for their confirms. */
  readonly #hurriedCopies: PublishMode
  /** By route: since when every publish has failed. */
  readonly #failingSince = new Map<string, number>()
  /** By routing key: until when no copies are sent, because no other system has bound a queue. */
  readonly #unboundUntil = new Map<string, number>()
  #channel: ConfirmChannel | undefined
  #blocked = false
  #copiesSlowUntil = 0
  #giveUp: Session['fail'] = () => {}

  constructor(options: PublisherOptions) {
    this.#changed = options.changed
    this.#returned = options.returned ?? (() => {})
    this.#stuckAfterMs = options.stuckAfterMs ?? STUCK_AFTER_MS
    this.#meter = options.meter ?? NO_METER
    const confirmTimeoutMs = options.confirmTimeoutMs ?? CONFIRM_TIMEOUT_MS
    this.#originals = {
      // Without `mandatory` the broker confirms a message that no queue accepts.
      mandatory: true,
      timeoutMs: confirmTimeoutMs,
      inFlight: new Set(),
      timedOut: (pending) => {
        this.#noteFailure(pending)
        this.#fail(pending, new Unavailable('rabbitmq', `no confirm within ${confirmTimeoutMs} ms`), 'timeout')
      },
      notSent: (reason) => this.#meter.failed(reason),
      refused: (pending, cause, isLate) => {
        this.#noteFailure(pending)
        if (isLate) return
        this.#fail(pending, new Unavailable('rabbitmq', 'RabbitMQ rejected the message', { cause }), 'refused')
      },
      confirmed: (pending, isLate) => this.#confirm(pending, isLate),
    }
    this.#copies = this.#copyMode(COPY_CONFIRM_MS)
    this.#hurriedCopies = this.#copyMode(0)
  }

  /** Part of a connection's set-up: later publishes use this connection. */
  async attach({ model, fail }: Session): Promise<void> {
    this.#blocked = false
    this.#failingSince.clear()
    this.#unboundUntil.clear()
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
   * Publishes a copy for the queues that other systems have bound. Their queues must not delay the original, so this also
   * resolves when such a queue refuses the copy or does not confirm it in time. Without such a queue, one copy a second is
   * sent: a queue that is bound later gets the events from at most a second after its binding.
   * @throws Unavailable if the broker cannot be reached or has an alarm
   */
  publishCopy(message: OutgoingMessage): Promise<void> {
    const now = performance.now()
    if (now < (this.#unboundUntil.get(message.routingKey) ?? 0)) return Promise.resolve()
    return this.#send(message, now < this.#copiesSlowUntil ? this.#hurriedCopies : this.#copies)
  }

  #copyMode(timeoutMs: number): PublishMode {
    return {
      // The broker returns a copy that reaches no queue. A copy that is not awaited cannot be matched with its return.
      mandatory: timeoutMs > 0,
      timeoutMs,
      inFlight: new Set(),
      timedOut: (pending) => {
        const now = performance.now()
        if (now >= this.#copiesSlowUntil) {
          this.#copiesSlowUntil = now + COPIES_SLOW_MS
          this.#meter.failed('copy')
        }
        pending.resolve()
      },
      notSent: () => {},
      refused: (pending, cause) => {
        if (cause.message !== NACKED) return this.#fail(pending, unavailable(cause))
        this.#meter.failed('copy')
        pending.resolve()
      },
      confirmed: ({ routingKey, sentAt, wasReturned, resolve }) => {
        if (wasReturned) this.#unboundUntil.set(routingKey, sentAt + UNBOUND_MS)
        resolve()
      },
    }
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
      this.#meter.failed('unroutable')
      return reject(new Unavailable('rabbitmq', `no queue accepts ${routingKey} on ${exchange}`))
    }
    this.#meter.confirmed(performance.now() - sentAt)
    resolve()
  }

  #fail({ reject }: Pending, error: Error, reason?: PublishFailure): void {
    if (reason !== undefined) this.#meter.failed(reason)
    reject(error)
  }

  /** Failures on a replaced channel or during an alarm do not count. */
  #noteFailure({ exchange, routingKey, channel }: Pending): void {
    if (this.#channel !== channel || this.#blocked) return
    const route = `${exchange} ${routingKey}`
    const since = this.#failingSince.get(route)
    if (since === undefined) this.#failingSince.set(route, performance.now())
    else if (performance.now() - since > this.#stuckAfterMs) {
      this.#giveUp(new Error(`no message was stored under ${routingKey} for ${this.#stuckAfterMs} ms`))
    }
  }

  /** RabbitMQ returns a message before it confirms it, and identifies it only by route and message id. */
  #markReturned(message: { exchange: string; routingKey: string; messageId: unknown }): void {
    for (const pending of [...this.#originals.inFlight, ...this.#copies.inFlight]) {
      if (
        !pending.wasReturned &&
        pending.messageId === message.messageId &&
        pending.routingKey === message.routingKey &&
        pending.exchange === message.exchange
      ) {
        pending.wasReturned = true
        break
      }
    }
    this.#returned(message)
  }

  #setBlocked(blocked: boolean): void {
    this.#blocked = blocked
    if (blocked) this.#expireInFlight()
    this.#changed()
  }

  /** Publishers must not wait for the end of the alarm. A message that is read afterwards arrives as a duplicate. */
  #expireInFlight(): void {
    const sent = [this.#originals, this.#copies, this.#hurriedCopies].flatMap(({ inFlight }) => [...inFlight])
    startDeadline(CONFIRM_IN_ALARM_MS, () => {
      if (!this.#blocked) return
      for (const pending of sent) if (land(pending)) this.#fail(pending, inAlarm(), 'alarm')
    })
  }
}

/** Ends a publish. Returns whether it was in flight until now. */
function land(pending: Pending): boolean {
  pending.deadline.stop()
  return pending.mode.inFlight.delete(pending)
}

const inAlarm = (): Unavailable =>
  new Unavailable('rabbitmq', 'RabbitMQ accepts no messages: it has a memory or disk alarm')

const unavailable = (cause?: Error): Unavailable =>
  new Unavailable('rabbitmq', 'not connected to RabbitMQ', cause && { cause })
