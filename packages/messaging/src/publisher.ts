import { Unavailable } from '@switchhook/contracts'
import { type ConfirmChannel, IllegalOperationError, type Options } from 'amqplib'
import type { Session } from './link.ts'
import { type BrokerMeter, NO_METER, type PublishFailure } from './meters.ts'

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
  readonly settle: (error?: Error, reason?: PublishFailure) => void
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

const CONFIRM_TIMEOUT_MS = 10_000
/** A node without a majority confirms nothing while it keeps its connections; and after a failover channels were seen that refused for ever. */
const STUCK_AFTER_MS = 30_000
/** What the broker took before its alarm it still confirms; what it did not read by then it reads only afterwards. */
const CONFIRM_IN_ALARM_MS = 1_000

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
   * @throws Unavailable when it was not stored, or nobody knows whether it was: then it may arrive none the less.
   */
  publish({ exchange, routingKey, content, properties }: OutgoingMessage): Promise<void> {
    const channel = this.#channel
    if (channel === undefined || this.#blocked) {
      this.#meter.failed(channel === undefined ? 'not-connected' : 'alarm')
      return Promise.reject(channel === undefined ? unavailable() : inAlarm())
    }
    return new Promise((resolve, reject) => {
      const startedAt = performance.now()
      const settle = (error?: Error, reason?: PublishFailure): void => {
        clearTimeout(timer)
        // A confirm that comes after its time was up changes nothing any more.
        if (!this.#inFlight.delete(pending)) return
        if (error === undefined) {
          this.#meter.confirmed(performance.now() - startedAt)
          resolve()
        } else {
          if (reason !== undefined) this.#meter.failed(reason)
          reject(error)
        }
      }
      const timer = setTimeout(() => {
        this.#noteFailure(exchange, routingKey, channel)
        settle(new Unavailable('rabbitmq', `no confirm within ${this.#confirmTimeoutMs} ms`), 'timeout')
      }, this.#confirmTimeoutMs)
      const pending: Pending = { exchange, routingKey, messageId: properties.messageId, returned: false, settle }
      this.#inFlight.add(pending)
      try {
        // Without `mandatory` the broker confirms what no queue takes.
        const options = { ...properties, mandatory: true, persistent: true }
        channel.publish(exchange, routingKey, content, options, (error: unknown) => {
          if (error) {
            this.#noteFailure(exchange, routingKey, channel)
            settle(new Unavailable('rabbitmq', 'RabbitMQ did not take the message', { cause: error }), 'refused')
            return
          }
          if (this.#failingSince.size > 0) this.#failingSince.delete(`${exchange} ${routingKey}`)
          if (!pending.returned) settle()
          else settle(new Unavailable('rabbitmq', `no queue takes ${routingKey} on ${exchange}`), 'unroutable')
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
