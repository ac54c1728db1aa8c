import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable, Unparsable } from '@switchhook/contracts'
import type { ConsumeMessage } from 'amqplib'
import { Backoff } from '../backoff.ts'
import type { Session } from '../link/link.ts'
import type { Log } from '../log.ts'
import { type BrokerMeter, NO_METER } from '../meters.ts'
import { isCopy } from '../publishing/messages.ts'
import type { OutgoingMessage } from '../publishing/publisher.ts'
import { type Origin, quarantineMessage } from '../quarantine/quarantine-message.ts'
import { ConsumerChannel } from './consumer-channel.ts'
import { ConsumerWatch } from './consumer-watch.ts'
import { type IncomingMessage, toIncoming } from './incoming-message.ts'
import { Pause } from './pause.ts'

export interface ConsumeOptions<T> {
  readonly queue: string
  /**
   * @throws Unparsable for what can never be understood: it goes into quarantine, with the reason.
   * @throws Unavailable as `handle` does
   */
  readonly parse: (message: IncomingMessage) => T
  /**
   * Resolved: the message is acked. Rejected with Unavailable: something that it needs is away; the consumer pauses and
   * tries this message again afterwards. Rejected with anything else: a bug; this message alone is held for a
   * moment and given back, and the queue's delivery limit moves it into quarantine in the end.
   */
  readonly handle: (value: T) => Promise<void>
  /** How many messages are in hand at a time. */
  readonly concurrency: number
  /** Resolves when what `handle` needs is there again; asked in each pause. The broker itself need not be asked. */
  readonly recovered: () => Promise<void>
}

export interface Consumer {
  /** Takes no more messages; resolves when all that are in hand are acked or given back. */
  drain(): Promise<void>
  inFlight(): number
}

export interface ConsumerDeps {
  readonly log: Log
  readonly publish: (message: OutgoingMessage) => Promise<void>
  readonly brokerReady: () => Promise<void>
  /** An obsolete binding brought a copy, whose original is in the queue as well. */
  readonly copyArrived?: () => void
  /** Makes the consumer tags of this process tell where they come from. */
  readonly name: string
  readonly timing?: ConsumerTiming
  readonly meter?: Pick<BrokerMeter, 'paused' | 'quarantined'>
}

export interface ConsumerTiming {
  readonly firstPauseMs: number
  readonly longestPauseMs: number
  /**
   * How long a failed message is kept for another try. Giving it back is what counts towards the delivery limit, so an
   * outage costs one per hold at most; and it stays far below the broker's own limit for unacked messages (30 minutes).
   */
  readonly holdMs: number
  /** How long a message that hits a bug is kept before it goes back: it must not circle. */
  readonly bugHoldMs: number
  /** How long the broker may take to answer a consume, cancel or check. */
  readonly answerMs?: number
  /** How often each consumer is checked for signs of life. */
  readonly checkMs?: number
}

type Fate = 'done' | 'give back' | 'failed'

/** How long the broker may take to answer a consume or cancel before its connection is given up. */
const ANSWER_TIMEOUT_MS = 10_000
export const CHECK_INTERVAL_MS = 15_000
const HOLD_MS = 300_000

const TIMING: ConsumerTiming = { firstPauseMs: 1_000, longestPauseMs: 30_000, holdMs: HOLD_MS, bugHoldMs: 1_000 }

/**
 * The longest time that a message waits unacknowledged because what its handler needs is away. The message may enter a
 * last pause just before its hold is over, and that pause may last for another hold.
 */
export const LONGEST_HOLD_MS = 2 * HOLD_MS + ANSWER_TIMEOUT_MS

/** Consumes one queue over all connections of a link, by the rule stated at `ConsumeOptions.handle`. */
export class QueueConsumer<T> implements Consumer {
  readonly #options: ConsumeOptions<T>
  readonly #deps: ConsumerDeps
  readonly #timing: ConsumerTiming
  readonly #meter: Pick<BrokerMeter, 'paused' | 'quarantined'>
  readonly #backoff: Backoff
  readonly #watch: ConsumerWatch
  readonly #stopping = new AbortController()
  readonly #stopped: Promise<void>
  #attached: { readonly session: Session; readonly done: Promise<void> } | undefined
  #channel: ConsumerChannel | undefined
  #tags = 0
  #pause: Pause | undefined
  #inFlight = 0
  #idle: () => void = () => {}
  #drained: Promise<void> | undefined

  constructor(options: ConsumeOptions<T>, deps: ConsumerDeps) {
    this.#options = options
    this.#deps = deps
    this.#timing = deps.timing ?? TIMING
    this.#meter = deps.meter ?? NO_METER
    this.#backoff = new Backoff(this.#timing.firstPauseMs, this.#timing.longestPauseMs)
    this.#watch = new ConsumerWatch(options.queue, deps.log)
    this.#stopped = new Promise((resolve) => {
      this.#stopping.signal.addEventListener('abort', () => resolve())
    })
  }

  /** Part of a connection's set-up. Repeating it for the same session does nothing. */
  attach(session: Session): Promise<void> {
    if (this.#attached?.session !== session) this.#attached = { session, done: this.#attach(session) }
    return this.#attached.done
  }

  async #attach(session: Session): Promise<void> {
    // The close event of the former channel may come late, or never.
    if (this.#channel !== undefined) this.#detach(this.#channel)
    const channel = await ConsumerChannel.open(session, {
      queue: this.#options.queue,
      concurrency: this.#options.concurrency,
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

  /** The end without waiting: nothing new begins, and what is in hand is given back by the connection's end. */
  stop(): void {
    this.#stopping.abort()
    this.#pause?.decide('give back')
  }

  /**
   * Messages can arrive: the broker confirmed a consumer on the link's present connection, and the last check did not
   * miss it. A paused consumer does not consume. One that stops is expected not to.
   */
  isConsuming(session: Session | undefined): boolean {
    if (this.#isStopping()) return true
    const channel = this.#channel
    return channel !== undefined && channel.session === session && channel.isConsuming() && !this.#watch.isMissing()
  }

  /** Asks the broker for signs of this consumer, see `ConsumerWatch`. */
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

  /** The broker redelivers everything that was unacknowledged on this channel. */
  #detach(channel: ConsumerChannel): void {
    channel.retire()
    if (this.#channel !== channel) return
    this.#channel = undefined
    this.#pause?.decide('give back')
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
    else channel.giveBack(message, fate === 'failed')
    this.#inFlight -= 1
    if (this.#inFlight === 0) this.#idle()
  }

  async #process(message: ConsumeMessage, channel: ConsumerChannel): Promise<Fate> {
    const takenAt = performance.now()
    for (;;) {
      if (this.#isStopping() || channel.isRetired() || (await this.#pause?.verdict) === 'give back') return 'give back'
      try {
        await this.#work(message)
        this.#backoff.reset()
        return 'done'
      } catch (error) {
        if (this.#isStopping()) return 'give back'
        if (!(error instanceof Unavailable)) return await this.#fail(message, error)
        // A message returned before the cancel is confirmed would be redelivered to this consumer at once.
        await this.#pauseBecauseOf(error).cancelled
        // Several short pauses must not keep a message until the broker's consumer timeout closes the channel.
        if (performance.now() - takenAt >= this.#timing.holdMs) return 'give back'
      }
    }
  }

  /** It fails for this message alone, as far as we know: the others go on. */
  async #fail(message: ConsumeMessage, error: unknown): Promise<Fate> {
    const { messageId } = toIncoming(message)
    this.#deps.log.error('a message cannot be handled', { queue: this.#options.queue, messageId, error })
    await sleep(this.#timing.bugHoldMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
    return 'failed'
  }

  async #work(message: ConsumeMessage): Promise<void> {
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
    void this.#waitOut(pause)
    return pause
  }

  async #waitOut(pause: Pause): Promise<void> {
    const startedAt = performance.now()
    do {
      await sleep(this.#backoff.nextMs(), undefined, { signal: this.#stopping.signal }).catch(() => {})
    } while (!this.#isStopping() && !(await this.#hasRecovered()))
    if (this.#isStopping()) return
    await pause.cancelled
    this.#pause = undefined
    pause.decide('again')
    const pausedMs = Math.round(performance.now() - startedAt)
    this.#deps.log.info('consuming resumed', { queue: this.#options.queue, pausedMs })
    await this.#subscribe()
  }

  /** Waits for as long as it takes. false: asking failed, or the consumer stops. */
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
