import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable, Unparsable } from '@switchhook/contracts'
import type { Channel, ConsumeMessage } from 'amqplib'
import { AckBatch, answer } from './ack-batch.ts'
import { Backoff } from './backoff.ts'
import { type IncomingMessage, toIncoming } from './incoming-message.ts'
import type { Session } from './link.ts'
import type { Log } from './log.ts'
import { type BrokerMeter, NO_METER } from './meters.ts'
import { Pause } from './pause.ts'
import type { OutgoingMessage } from './publisher.ts'
import { type Origin, quarantineMessage } from './quarantine-message.ts'
import { within } from './within.ts'

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
}

/** From RabbitMQ 4.3 on a reject counts towards the delivery limit and a nack does not; before, both do. */
type Fate = 'done' | 'give back' | 'failed'

const CLOSE_TIMEOUT_MS = 3_000

const TIMING: ConsumerTiming = { firstPauseMs: 1_000, longestPauseMs: 30_000, holdMs: 300_000, bugHoldMs: 1_000 }

/** Consumes one queue over all connections of a link, by the rule stated at `ConsumeOptions.handle`. */
export class QueueConsumer<T> implements Consumer {
  readonly #options: ConsumeOptions<T>
  readonly #deps: ConsumerDeps
  readonly #timing: ConsumerTiming
  readonly #meter: Pick<BrokerMeter, 'paused' | 'quarantined'>
  readonly #backoff: Backoff
  readonly #stopping = new AbortController()
  readonly #stopped: Promise<void>
  #session: Session | undefined
  #channel: Channel | undefined
  #acks: AckBatch | undefined
  #tag: string | undefined
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
    this.#stopped = new Promise((resolve) => {
      this.#stopping.signal.addEventListener('abort', () => resolve())
    })
  }

  /** Part of a connection's set-up. Repeating it for the same session does nothing. */
  async attach(session: Session): Promise<void> {
    if (this.#session === session) return
    this.#session = session
    const channel = await session.model.createChannel()
    channel.on('error', session.fail)
    channel.on('close', () => {
      if (this.#channel === channel) this.#detach()
    })
    await channel.prefetch(this.#options.concurrency)
    if (this.#session !== session) return
    this.#channel = channel
    this.#acks = new AckBatch(channel)
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

  async #drain(): Promise<void> {
    this.stop()
    await this.#unsubscribe()
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    await this.#closeChannel()
  }

  /** The end of a connection overtakes acks that are still being sent; the end of their channel does not. */
  async #closeChannel(): Promise<void> {
    const channel = this.#channel
    this.#acks?.flush()
    this.#channel = undefined
    if (channel !== undefined) await within(CLOSE_TIMEOUT_MS, channel.close(), 'no answer').catch(() => {})
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** The broker hands everything out again that was in hand on this channel. */
  #detach(): void {
    this.#channel = undefined
    this.#tag = undefined
    this.#pause?.decide('give back')
  }

  async #subscribe(): Promise<void> {
    const channel = this.#channel
    const acks = this.#acks
    if (channel === undefined || acks === undefined || this.#tag !== undefined || this.#isStopping()) return
    const { queue } = this.#options
    this.#tags += 1
    this.#tag = `${this.#deps.name}.${queue}.${this.#tags}`
    const take = (message: ConsumeMessage | null): void => {
      // The broker ended the consumer, as the queue was deleted: the set-up of a new connection declares it again.
      if (message === null) this.#session?.fail(new Error(`RabbitMQ cancelled the consumer of ${queue}`))
      else void this.#take(message, channel, acks)
    }
    await channel.consume(queue, take, { consumerTag: this.#tag })
  }

  async #unsubscribe(): Promise<void> {
    const tag = this.#tag
    this.#tag = undefined
    // A channel that is gone has no consumer either.
    if (tag !== undefined) await this.#channel?.cancel(tag).catch(() => {})
  }

  async #take(message: ConsumeMessage, channel: Channel, acks: AckBatch): Promise<void> {
    this.#inFlight += 1
    acks.taken(message)
    const fate = await this.#process(message)
    if (fate === 'done') acks.done(message)
    else {
      acks.givenBack(message)
      answer(() => (fate === 'give back' ? channel.nack(message, false, true) : channel.reject(message, true)))
    }
    this.#inFlight -= 1
    if (this.#inFlight === 0) this.#idle()
  }

  async #process(message: ConsumeMessage): Promise<Fate> {
    for (;;) {
      if (this.#isStopping() || (await this.#pause?.verdict) === 'give back') return 'give back'
      try {
        await this.#work(message)
        this.#backoff.reset()
        return 'done'
      } catch (error) {
        if (this.#isStopping()) return 'give back'
        if (!(error instanceof Unavailable)) return await this.#fail(message, error)
        // Given back before the broker heard of the cancelling, it would come straight back.
        await this.#pauseBecauseOf(error).cancelled
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
    let value: T
    try {
      value = this.#options.parse(toIncoming(message))
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
    // A channel that fails here is made anew by the link, and subscribed then.
    await this.#subscribe().catch(() => {})
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
