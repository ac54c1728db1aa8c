import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable, Unparsable } from '@switchhook/contracts'
import type { ConsumeMessage } from 'amqplib'
import { type Session, toError } from '../link/session.ts'
import { toIncoming } from '../message/message.ts'
import { type Origin, quarantineMessage } from '../message/quarantine-message.ts'
import type { ConsumeOptions, ConsumerDeps } from './consume-options.ts'
import { ConsumerChannel } from './consumer-channel.ts'
import { createConsumerWatch } from './consumer-watch.ts'
import { createDependencyGate } from './dependency-gate.ts'

/** What happens to a message after handling. `return`: back to the queue. `failed`: back, counted as a failure. */
type Disposition = 'done' | 'return' | 'failed'

export type Consumer = Pick<QueueConsumer<unknown>, 'drain' | 'inFlight'>

/** Consumes one queue across the reconnections of a link. `ConsumeOptions.handle` states when it acknowledges. */
export class QueueConsumer<T> {
  readonly #options: ConsumeOptions<T>
  readonly #deps: ConsumerDeps
  readonly #watch: ReturnType<typeof createConsumerWatch>
  readonly #gate: ReturnType<typeof createDependencyGate>
  /** Draining is final. Ends all waits. */
  readonly #draining = new AbortController()
  #attached: { readonly session: Session; readonly done: Promise<void> } | undefined
  #channel: ConsumerChannel | undefined
  #tags = 0
  #inFlight = 0
  #received = 0
  /** Set by a drain; resolves once no message is in flight. */
  #idle: PromiseWithResolvers<void> | undefined
  #drained: Promise<void> | undefined

  constructor(options: ConsumeOptions<T>, deps: ConsumerDeps) {
    this.#options = options
    this.#deps = deps
    this.#watch = createConsumerWatch(options.queue, deps)
    this.#gate = createDependencyGate({
      ...options,
      ...deps,
      draining: this.#draining.signal,
      unsubscribe: () => this.#channel?.unsubscribe(),
      subscribe: () => this.#subscribe(),
    })
  }

  /** Repeated calls for the same session share one result. */
  attach(session: Session): Promise<void> {
    if (this.#attached?.session === session) return this.#attached.done
    const attached = { session, done: this.#attach(session, (): boolean => this.#attached === attached) }
    this.#attached = attached
    return attached.done
  }

  async #attach(session: Session, isCurrent: () => boolean): Promise<void> {
    // The close event of the previous channel may come late, or never.
    if (this.#channel !== undefined) this.#detach(this.#channel)
    const channel = await ConsumerChannel.open(session, {
      ackDelayMs: 0,
      ...this.#options,
      ...this.#deps.timing,
      take: (message, from) => void this.#take(message, from),
      closed: (closed) => this.#detach(closed),
      unanswered: () => void this.#reopen(session),
    })
    // Another attachment replaced this one meanwhile; nothing else would close the channel.
    if (!isCurrent()) return await channel.close()
    this.#channel = channel
    await this.#subscribe()
  }

  inFlight(): number {
    return this.#inFlight
  }

  /** Messages since the process started. */
  received(): number {
    return this.#received
  }

  isPaused(): boolean {
    return this.#gate.isPaused()
  }

  /** Stops taking messages. Resolves when those in flight are acknowledged or returned to the queue. */
  drain(): Promise<void> {
    return (this.#drained ??= this.#drain())
  }

  /** Stops without waiting: nothing new starts, and closing the connection returns the messages in flight. */
  stop(): void {
    this.#gate.returnWaiting()
    this.#draining.abort()
  }

  /**
   * Whether messages can arrive: the broker confirmed the consumer on the link's current connection, and the last check
   * found it. False for a paused consumer. True for one that drains, because it is not expected to consume.
   */
  isConsuming(session: Session | undefined): boolean {
    if (this.#draining.signal.aborted) return true
    const channel = this.#channel
    return channel !== undefined && channel.session === session && channel.isConsuming() && !this.#watch.isMissing()
  }

  async check(session: Session | undefined): Promise<void> {
    if (session === undefined) return
    const current = () => (this.#gate.isOpen() ? { channel: this.#channel } : undefined)
    if (await this.#watch.check(session, current)) await this.#reopen(session)
  }

  /**
   * Replaces the channel alone; the consumers of other queues keep theirs. If the previous replacement did not help and no
   * other consumer receives messages, or if several did not help, this node may be cut off from the majority of its cluster
   * or from the leader of the queue, so the link tries the next.
   */
  async #reopen(session: Session): Promise<void> {
    if (this.#draining.signal.aborted) return
    if (!this.#watch.mayReplace(session)) {
      const { queue } = this.#options
      return session.fail(new Error(`RabbitMQ does not serve the consumer of ${queue} on another channel`))
    }
    const old = this.#channel
    this.#attached = undefined
    const attached = this.attach(session)
    void old?.abandon()
    // A connection that opens no channel serves no queue.
    await attached.catch((error: unknown) => session.fail(toError(error)))
  }

  async #drain(): Promise<void> {
    this.stop()
    await this.#channel?.unsubscribe()
    this.#idle = Promise.withResolvers()
    if (this.#inFlight > 0) await this.#idle.promise
    const channel = this.#channel
    this.#channel = undefined
    await channel?.close()
  }

  /** The channel is lost; the broker redelivers its unacknowledged messages. */
  #detach(channel: ConsumerChannel): void {
    channel.retire()
    if (this.#channel !== channel) return
    this.#channel = undefined
    this.#gate.returnWaiting()
  }

  async #subscribe(): Promise<void> {
    if (!this.#gate.isOpen()) return
    this.#tags += 1
    await this.#channel?.subscribe(`${this.#deps.name}.${this.#options.queue}.${this.#tags}`)
  }

  async #take(message: ConsumeMessage, channel: ConsumerChannel): Promise<void> {
    this.#inFlight += 1
    this.#received += 1
    channel.taken(message)
    const disposition = await this.#process(message, channel)
    if (disposition === 'done') channel.done(message)
    else channel.return(message, disposition === 'failed')
    this.#inFlight -= 1
    if (this.#inFlight === 0) this.#idle?.resolve()
  }

  async #process(message: ConsumeMessage, channel: ConsumerChannel): Promise<Disposition> {
    const takenAt = performance.now()
    for (let waits = 0; ; waits++) {
      // Several short waits must not keep a message until the broker's consumer timeout closes the channel.
      if (waits > 0 && performance.now() - takenAt >= this.#deps.timing.retryForMs) return 'return'
      if (channel.isRetired() || !(this.#gate.isOpen() || (await this.#gate.pass()))) return 'return'
      try {
        await this.#parseAndHandle(message)
        this.#gate.noteHandled()
        return 'done'
      } catch (error) {
        if (this.#draining.signal.aborted) return 'return'
        if (!(error instanceof Unavailable)) return await this.#fail(message, error)
        await this.#gate.failed(error, waits)
      }
    }
  }

  /** A bug, as far as we know with this message alone: the others continue. */
  async #fail(message: ConsumeMessage, error: unknown): Promise<Disposition> {
    const { messageId } = toIncoming(message)
    this.#deps.log.error('message handling failed', { queue: this.#options.queue, messageId, error })
    await sleep(this.#deps.timing.bugDelayMs, undefined, { signal: this.#draining.signal }).catch(() => {})
    return 'failed'
  }

  async #parseAndHandle(message: ConsumeMessage): Promise<void> {
    const incoming = toIncoming(message)
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
    this.#deps.meter?.quarantined()
    this.#deps.log.warn('message put into quarantine', { queue: origin.queue, reason, messageId })
  }
}
