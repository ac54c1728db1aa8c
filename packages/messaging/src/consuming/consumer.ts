import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable, Unparsable } from '@switchhook/contracts'
import { backoffMs, type Logger } from '@switchhook/runtime'
import type { ConsumeMessage } from 'amqplib'
import type { Session } from '../link/session.ts'
import { type BrokerMeter, NO_METER } from '../meters.ts'
import type { OutgoingMessage } from '../publishing/publisher.ts'
import { type Origin, quarantineMessage } from '../quarantine/quarantine-message.ts'
import { ConsumerChannel } from './consumer-channel.ts'
import { ConsumerWatch } from './consumer-watch.ts'
import { type IncomingMessage, isCopy, toIncoming } from './incoming-message.ts'
import { Pause } from './pause.ts'

export interface ConsumeOptions<T> {
  readonly queue: string
  /**
   * @throws Unparsable for a message that can never be parsed: it is moved to quarantine, with the reason
   * @throws Unavailable with the same effect as in `handle`
   */
  readonly parse: (message: IncomingMessage) => T
  /**
   * Resolved: the message is acknowledged. Rejected with Unavailable: a dependency is down; the consumer pauses and
   * retries this message afterwards. Rejected with any other error: a bug; only this message is held for a moment and
   * returned to the queue, whose delivery limit finally moves it to quarantine.
   */
  readonly handle: (value: T) => Promise<void>
  /** Limit of messages that are handled at the same time. */
  readonly concurrency: number
  /**
   * How long the acknowledgement of a message may wait for those of earlier messages, so that one covers them all. Until
   * then the message counts towards `concurrency`. Default: 0.
   */
  readonly holdAcksMs?: number
  /** Called in each pause. Resolves when the dependencies of `handle` work again; the broker is checked separately. */
  readonly recovered: () => Promise<void>
}

export interface Consumer {
  /** Stops taking messages. Resolves when those in flight are acknowledged or returned to the queue. */
  drain(): Promise<void>
  inFlight(): number
}

export interface ConsumerDeps {
  readonly log: Logger
  readonly publish: (message: OutgoingMessage) => Promise<void>
  readonly brokerReady: () => Promise<void>
  /** Called for a message that is a copy, see `isCopy`. */
  readonly copyArrived?: () => void
  /** The first part of the consumer tags, which names the process in RabbitMQ's management pages. */
  readonly name: string
  readonly timing?: ConsumerTiming
  readonly meter?: Pick<BrokerMeter, 'paused' | 'quarantined'>
}

export interface ConsumerTiming {
  readonly firstPauseMs: number
  readonly longestPauseMs: number
  /**
   * How long a failed message is held for a retry. Only its return counts towards the delivery limit, so an outage costs
   * at most one delivery per hold. Must stay far below the broker's limit for unacknowledged messages (30 minutes).
   */
  readonly holdMs: number
  /** How long a message that hits a bug is held before its return, so that it does not loop. */
  readonly bugHoldMs: number
  /** The time limit of the broker's answer to a consume, cancel or check. */
  readonly answerMs?: number
  /** How often `ConsumerWatch` checks each consumer. */
  readonly checkMs?: number
}

/** What happens to a message after handling. `return`: back to the queue. `failed`: back, counted as a failure. */
type Fate = 'done' | 'return' | 'failed'

/** After this long without an answer to a consume, cancel or check, the connection is given up. */
const ANSWER_TIMEOUT_MS = 10_000
export const CHECK_INTERVAL_MS = 15_000
const HOLD_MS = 300_000

const TIMING: ConsumerTiming = { firstPauseMs: 1_000, longestPauseMs: 30_000, holdMs: HOLD_MS, bugHoldMs: 1_000 }

/**
 * The longest time that a message stays unacknowledged because a dependency is down. It may enter its last pause just
 * before its hold ends, and that pause may last for another hold.
 */
export const LONGEST_HOLD_MS = 2 * HOLD_MS + ANSWER_TIMEOUT_MS

/** Consumes one queue across the reconnections of a link. `ConsumeOptions.handle` states when it acknowledges. */
export class QueueConsumer<T> implements Consumer {
  readonly #options: ConsumeOptions<T>
  readonly #deps: ConsumerDeps
  readonly #timing: ConsumerTiming
  readonly #meter: Pick<BrokerMeter, 'paused' | 'quarantined'>
  readonly #watch: ConsumerWatch
  readonly #stopping = new AbortController()
  readonly #stopped: Promise<void>
  #attached: { readonly session: Session; readonly done: Promise<void> } | undefined
  #channel: ConsumerChannel | undefined
  #tags = 0
  #pause: Pause | undefined
  /** Waits for a dependency since the last handled message. */
  #waits = 0
  #inFlight = 0
  #idle: () => void = () => {}
  #drained: Promise<void> | undefined

  constructor(options: ConsumeOptions<T>, deps: ConsumerDeps) {
    this.#options = options
    this.#deps = deps
    this.#timing = deps.timing ?? TIMING
    this.#meter = deps.meter ?? NO_METER
    this.#watch = new ConsumerWatch(options.queue, deps.log)
    this.#stopped = new Promise((resolve) => {
      this.#stopping.signal.addEventListener('abort', () => resolve())
    })
  }

  /** Part of a connection's set-up. Repeated calls for the same session share one result. */
  attach(session: Session): Promise<void> {
    if (this.#attached?.session !== session) this.#attached = { session, done: this.#attach(session) }
    return this.#attached.done
  }

  async #attach(session: Session): Promise<void> {
    // The close event of the previous channel may come late, or never.
    if (this.#channel !== undefined) this.#detach(this.#channel)
    const channel = await ConsumerChannel.open(session, {
      queue: this.#options.queue,
      concurrency: this.#options.concurrency,
      holdAcksMs: this.#options.holdAcksMs ?? 0,
      answerMs: this.#timing.answerMs ?? ANSWER_TIMEOUT_MS,
      take: (message, from) => void this.#take(message, from),
      closed: (closed) => this.#detach(closed),
    })
    if (this.#attached?.session !== session) return
    this.#channel = channel
    if (this.#pause === undefined) await this.#subscribe()
  }

  inFlight(): number {
    return this.#inFlight
  }

  isPaused(): boolean {
    return this.#pause !== undefined
  }

  drain(): Promise<void> {
    this.#drained ??= this.#drain()
    return this.#drained
  }

  /** Stops without waiting: nothing new starts, and closing the connection returns the messages in flight. */
  stop(): void {
    this.#stopping.abort()
    this.#pause?.decide('return')
  }

  /**
   * Whether messages can arrive: the broker confirmed the consumer on the link's current connection, and the last check
   * found it. False for a paused consumer. True for one that stops, because it is not expected to consume.
   */
  isConsuming(session: Session | undefined): boolean {
    if (this.#isStopping()) return true
    const channel = this.#channel
    return channel !== undefined && channel.session === session && channel.isConsuming() && !this.#watch.isMissing()
  }

  /** Checks that the broker still serves this consumer, see `ConsumerWatch`. */
  async check(session: Session | undefined): Promise<void> {
    if (session === undefined) return
    const isWanted = (): boolean => !this.#isStopping() && this.#pause === undefined
    await this.#watch.check(session, () => (isWanted() ? { channel: this.#channel } : undefined))
  }

  async #drain(): Promise<void> {
    this.stop()
    await this.#unsubscribe()
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    const channel = this.#channel
    this.#channel = undefined
    await channel?.close()
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** The channel is lost; the broker redelivers its unacknowledged messages. */
  #detach(channel: ConsumerChannel): void {
    channel.retire()
    if (this.#channel !== channel) return
    this.#channel = undefined
    this.#pause?.decide('return')
  }

  async #subscribe(): Promise<void> {
    if (this.#isStopping()) return
    this.#tags += 1
    await this.#channel?.subscribe(`${this.#deps.name}.${this.#options.queue}.${this.#tags}`)
  }

  async #unsubscribe(): Promise<void> {
    await this.#channel?.unsubscribe()
  }

  async #take(message: ConsumeMessage, channel: ConsumerChannel): Promise<void> {
    this.#inFlight += 1
    channel.taken(message)
    const fate = await this.#process(message, channel)
    if (fate === 'done') channel.done(message)
    else channel.return(message, fate === 'failed')
    this.#inFlight -= 1
    if (this.#inFlight === 0) this.#idle()
  }

  async #process(message: ConsumeMessage, channel: ConsumerChannel): Promise<Fate> {
    const takenAt = performance.now()
    for (;;) {
      if (this.#isStopping() || channel.isRetired() || (await this.#pause?.verdict) === 'return') return 'return'
      try {
        await this.#parseAndHandle(message)
        this.#waits = 0
        return 'done'
      } catch (error) {
        if (this.#isStopping()) return 'return'
        if (!(error instanceof Unavailable)) return await this.#fail(message, error)
        // A message that is returned before the cancel is confirmed would be redelivered to this consumer at once.
        await this.#pauseBecauseOf(error).cancelled
        // Several short pauses must not hold a message until the broker's consumer timeout closes the channel.
        if (performance.now() - takenAt >= this.#timing.holdMs) return 'return'
      }
    }
  }

  /** A bug, as far as we know with this message alone: the others continue. */
  async #fail(message: ConsumeMessage, error: unknown): Promise<Fate> {
    const { messageId } = toIncoming(message)
    this.#deps.log.error('message handling failed', { queue: this.#options.queue, messageId, error })
    await sleep(this.#timing.bugHoldMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
    return 'failed'
  }

  async #parseAndHandle(message: ConsumeMessage): Promise<void> {
    const incoming = toIncoming(message)
    if (isCopy(incoming)) return this.#deps.copyArrived?.()
    let value: T
    try {
      value = this.#options.parse(incoming)
    } catch (error) {
      if (!(error instanceof Unparsable)) throw error
      return await this.#quarantine(message, error.message)
    }
    await this.#options.handle(value)
  }

  async #quarantine(message: ConsumeMessage, reason: string): Promise<void> {
    const { exchange, routingKey } = message.fields
    const origin: Origin = { reason, queue: this.#options.queue, exchange, routingKey, at: new Date().toISOString() }
    await this.#deps.publish(quarantineMessage(message, origin))
    const { messageId } = toIncoming(message)
    this.#meter.quarantined()
    this.#deps.log.warn('message put into quarantine', { queue: origin.queue, reason, messageId })
  }

  #pauseBecauseOf(error: Unavailable): Pause {
    if (this.#pause !== undefined) return this.#pause
    const { queue } = this.#options
    this.#meter.paused()
    this.#deps.log.warn('consuming paused', { queue, error })
    const pause = new Pause(this.#unsubscribe(), this.#timing.holdMs)
    this.#pause = pause
    void this.#endWhenRecovered(pause)
    return pause
  }

  async #endWhenRecovered(pause: Pause): Promise<void> {
    const startedAt = performance.now()
    do {
      const waitMs = backoffMs(this.#waits++, this.#timing.firstPauseMs, this.#timing.longestPauseMs)
      await sleep(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
    } while (!this.#isStopping() && !(await this.#hasRecovered()))
    if (this.#isStopping()) return
    await pause.cancelled
    this.#pause = undefined
    pause.decide('retry')
    const pausedMs = Math.round(performance.now() - startedAt)
    this.#deps.log.info('consuming resumed', { queue: this.#options.queue, pausedMs })
    await this.#subscribe()
  }

  /** Waits without a limit. false: a check failed, or the consumer stops. */
  async #hasRecovered(): Promise<boolean> {
    try {
      const recovered = Promise.all([this.#options.recovered(), this.#deps.brokerReady()])
      return (await Promise.race([recovered, this.#stopped])) !== undefined
    } catch (error) {
      this.#deps.log.debug('not recovered yet', { queue: this.#options.queue, error })
      return false
    }
  }
}
