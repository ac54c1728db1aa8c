import { Unavailable } from '@switchhook/contracts'
import { type ConfirmChannel, IllegalOperationError, type Options } from 'amqplib'
import type { Session } from '../link/link.ts'
import { toError } from '../link/to-error.ts'
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

interface Pending {
  readonly exchange: string
  readonly routingKey: string
  readonly messageId: string | undefined
  returned: boolean
  readonly settle: Settle
}

type Settle = (error?: Error, reason?: PublishFailure) => void

/** What a publish does at each end that it may have. */
interface Course {
  readonly mandatory: boolean
  readonly timeoutMs: number
  readonly notConnected: (reason: PublishFailure) => void
  readonly timedOut: (channel: ConfirmChannel, settle: Settle) => void
  readonly refused: (cause: Error, channel: ConfirmChannel, settle: Settle) => void
  readonly confirmed: (wasReturned: boolean, settle: Settle) => void
  readonly stored: (ms: number) => void
}

export type Route = Pick<OutgoingMessage, 'exchange' | 'routingKey'>

export interface PublisherOptions {
  /** Called whenever it was blocked or unblocked. */
  readonly changed: () => void
  /** Called when nothing took a message. */
  readonly returned?: (route: Route) => void
  readonly confirmTimeoutMs?: number
  /** For how long no message of a route may have been stored before the connection is given up for another. */
  readonly stuckAfterMs?: number
  readonly meter?: Pick<BrokerMeter, 'confirmed' | 'failed'>
}

/** How long a publish waits for its confirm. */
export const CONFIRM_TIMEOUT_MS = 10_000
/** A node without a majority confirms nothing while it keeps its connections; and after a failover channels were seen that refused for ever. */
const STUCK_AFTER_MS = 30_000
/** What the broker took before its alarm it still confirms; what it did not read by then it reads only afterwards. */
const CONFIRM_IN_ALARM_MS = 1_000

/** How long the confirm of a copy is waited for. */
const COPY_CONFIRM_MS = 1_000
/** After one copy was not confirmed, how long no confirm of a copy is waited for. */
const COPIES_SLOW_MS = 10_000
/** amqplib's message for a negative confirm; a closed channel has another one. */
const NACKED = 'message nacked'

/** Publishes on one confirm channel, which is made anew with each connection. */
export class Publisher {
  readonly #confirmTimeoutMs: number
  readonly #changed: () => void
  readonly #returned: (route: Route) => void
  readonly #stuckAfterMs: number
  readonly #meter: Pick<BrokerMeter, 'confirmed' | 'failed'>
  readonly #inFlight = new Set<Pending>()
  /** By route: when what was published there began to fail. */
  readonly #failingSince = new Map<string, number>()
  #channel: ConfirmChannel | undefined
  #blocked = false
  #copiesSlowUntil = 0
  #giveUp: Session['fail'] = () => {}

  constructor(options: PublisherOptions) {
    this.#changed = options.changed
    this.#returned = options.returned ?? (() => {})
    this.#stuckAfterMs = options.stuckAfterMs ?? STUCK_AFTER_MS
    this.#meter = options.meter ?? NO_METER
    this.#confirmTimeoutMs = options.confirmTimeoutMs ?? CONFIRM_TIMEOUT_MS
  }

  /** Part of a connection's set-up: from here on it publishes on this connection. */
  async attach({ model, fail }: Session): Promise<void> {
    this.#blocked = false
    this.#failingSince.clear()
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
   * RabbitMQ has a memory or disk alarm and reads nothing from us. It says so only to who publishes: the first message
   * after the alarm finds out.
   */
  isBlocked(): boolean {
    return this.#blocked
  }

  /**
   * Resolves once the broker has stored the message in at least one queue.
   * @throws Unavailable when it was not stored, or when that is unknown: then it may arrive all the same.
   */
  publish(message: OutgoingMessage): Promise<void> {
    const { exchange, routingKey } = message
    return this.#send(message, {
      // Without `mandatory` the broker confirms a message that no queue takes.
      mandatory: true,
      timeoutMs: this.#confirmTimeoutMs,
      notConnected: (reason) => this.#meter.failed(reason),
      timedOut: (channel, settle) => {
        this.#noteFailure(exchange, routingKey, channel)
        settle(new Unavailable('rabbitmq', `no confirm within ${this.#confirmTimeoutMs} ms`), 'timeout')
      },
      refused: (cause, channel, settle) => {
        this.#noteFailure(exchange, routingKey, channel)
        settle(new Unavailable('rabbitmq', 'RabbitMQ did not take the message', { cause }), 'refused')
      },
      confirmed: (wasReturned, settle) => {
        if (this.#failingSince.size > 0) this.#failingSince.delete(`${exchange} ${routingKey}`)
        if (wasReturned) {
          settle(new Unavailable('rabbitmq', `no queue takes ${routingKey} on ${exchange}`), 'unroutable')
          return
        }
        settle()
      },
      stored: (ms) => this.#meter.confirmed(ms),
    })
  }

  /**
   * Publishes a copy for queues that others have bound, if there are any. A queue of others must not hold up the original:
   * this resolves as well when such a queue refuses the copy or does not confirm it soon.
   * @throws Unavailable when the broker cannot be reached or has an alarm
   */
  publishCopy(message: OutgoingMessage): Promise<void> {
    return this.#send(message, {
      mandatory: false,
      timeoutMs: performance.now() < this.#copiesSlowUntil ? 0 : COPY_CONFIRM_MS,
      notConnected: () => {},
      timedOut: (_channel, settle) => {
        const now = performance.now()
        if (now >= this.#copiesSlowUntil) {
          this.#copiesSlowUntil = now + COPIES_SLOW_MS
          this.#meter.failed('copy')
        }
        settle()
      },
      refused: (cause, _channel, settle) => {
        if (cause.message !== NACKED) return settle(unavailable(cause))
        this.#meter.failed('copy')
        settle()
      },
      confirmed: (_wasReturned, settle) => settle(),
      stored: () => {},
    })
  }

  #send({ exchange, routingKey, content, properties }: OutgoingMessage, course: Course): Promise<void> {
    const channel = this.#channel
    if (channel === undefined || this.#blocked) {
      course.notConnected(channel === undefined ? 'not-connected' : 'alarm')
      return Promise.reject(channel === undefined ? unavailable() : inAlarm())
    }
    return new Promise((resolve, reject) => {
      const startedAt = performance.now()
      const settle: Settle = (error, reason) => {
        clearTimeout(timer)
        // A confirm that comes after its time was up changes nothing any more.
        if (!this.#inFlight.delete(pending)) return
        if (reason !== undefined) this.#meter.failed(reason)
        if (error !== undefined) return reject(error)
        course.stored(performance.now() - startedAt)
        resolve()
      }
      const timer = setTimeout(() => course.timedOut(channel, settle), course.timeoutMs)
      const pending: Pending = { exchange, routingKey, messageId: properties.messageId, returned: false, settle }
      this.#inFlight.add(pending)
      try {
        const options = { ...properties, mandatory: course.mandatory, persistent: true }
        channel.publish(exchange, routingKey, content, options, (error: unknown) => {
          if (error) course.refused(toError(error), channel, settle)
          else course.confirmed(pending.returned, settle)
        })
      } catch (error) {
        if (error instanceof IllegalOperationError) settle(unavailable(error), 'not-connected')
        else settle(error as Error)
      }
    })
  }

  /** A channel that is gone has no say any more, nor has a broker in alarm. */
  #noteFailure(exchange: string, routingKey: string, channel: ConfirmChannel): void {
    if (this.#channel !== channel || this.#blocked) return
    const route = `${exchange} ${routingKey}`
    const since = this.#failingSince.get(route)
    if (since === undefined) this.#failingSince.set(route, performance.now())
    else if (performance.now() - since > this.#stuckAfterMs) {
      this.#giveUp(new Error(`nothing was stored under ${routingKey} for ${this.#stuckAfterMs} ms`))
    }
  }

  /** A return comes before the confirm of the same message, and says which it is only by its route and its id. */
  #markReturned(message: { exchange: string; routingKey: string; messageId: unknown }): void {
    for (const pending of this.#inFlight) {
      if (
        !pending.returned &&
        pending.messageId === message.messageId &&
        pending.routingKey === message.routingKey &&
        pending.exchange === message.exchange
      ) {
        pending.returned = true
        break
      }
    }
    this.#returned(message)
  }

  #setBlocked(blocked: boolean): void {
    this.#blocked = blocked
    if (blocked) this.#expire([...this.#inFlight])
    this.#changed()
  }

  /** Whoever published it should not wait for the end of the alarm. It may arrive then all the same, as a duplicate. */
  #expire(underWay: readonly Pending[]): void {
    setTimeout(() => {
      if (this.#blocked) for (const { settle } of underWay) settle(inAlarm(), 'alarm')
    }, CONFIRM_IN_ALARM_MS).unref()
  }
}

const inAlarm = (): Unavailable =>
  new Unavailable('rabbitmq', 'RabbitMQ takes no messages: it has a memory or disk alarm')

const unavailable = (cause?: Error): Unavailable =>
  new Unavailable('rabbitmq', 'not connected to RabbitMQ', cause && { cause })
