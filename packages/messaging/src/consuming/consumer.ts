import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable, Unparsable } from '@switchhook/contracts'
import type { ConsumeMessage } from 'amqplib'
import { type Session, toError } from '../link/session.ts'
import { toIncoming } from '../message/message.ts'
import { type Origin, quarantineMessage } from '../message/quarantine-message.ts'
import type { ConsumeOptions, ConsumerDeps } from './consume-options.ts'
import { type ConsumerChannel, type Disposition, openConsumerChannel } from './consumer-channel.ts'
import { createDependencyGate } from './dependency-gate.ts'

/** Replacements that messages of other consumers excuse: a node can be cut off from the leader of one queue alone. */
const MAX_EXCUSED = 5

export type Consumer = Pick<QueueConsumer, 'drain' | 'inFlight'>

export type QueueConsumer = ReturnType<typeof createConsumer>

/** Consumes one queue across the reconnections of a link. `ConsumeOptions.handle` states when it acknowledges. */
export function createConsumer<T>(options: ConsumeOptions<T>, deps: ConsumerDeps) {
  const { queue, parse, handle } = options
  const { log, timing, meter } = deps
  /** Draining is final. Ends all waits. */
  const draining = new AbortController()
  const { signal: isDraining } = draining
  let attached: { readonly session: Session; readonly done: Promise<void> } | undefined
  let channel: ConsumerChannel | undefined
  /** When the channel was last replaced. Undefined once a check has found the consumer since. */
  let replaced: { readonly on: Session; readonly received: number; readonly excused: number } | undefined
  let isChecking = false
  let inFlight = 0
  let received = 0
  /** Set by a drain; resolves once no message is in flight. */
  let idle: PromiseWithResolvers<void> | undefined
  const gate = createDependencyGate({
    ...options,
    ...deps,
    draining: isDraining,
    unsubscribe: () => channel?.unsubscribe(),
    subscribe: () => channel?.subscribe(),
  })

  /** Resolves once the consumer is attached, or the session has failed. Repeated calls for one session share the result. */
  async function attach(session: Session): Promise<void> {
    if (isDraining.aborted) return
    if (attached?.session !== session) {
      // The close event of the previous channel may come late, or never.
      channel?.retire()
      channel = undefined
      gate.returnWaiting()
      attached = { session, done: openChannel(session) }
    }
    await attached.done
  }

  async function openChannel(session: Session): Promise<void> {
    try {
      const opened = await openConsumerChannel(session, {
        ...options,
        ...timing,
        name: deps.name,
        take: (message, from) => void take(message, from),
        unanswered: () => void reopen(session),
      })
      // Another attachment replaced this one meanwhile; nothing else would close the channel.
      if (attached?.session !== session || channel !== undefined) return await opened.close()
      channel = opened
      if (gate.isOpen()) await channel.subscribe()
    } catch (error) {
      session.fail(toError(error))
    }
  }

  /**
   * Replaces the channel alone; the consumers of other queues keep theirs. If the previous replacement did not help and no
   * other consumer receives messages, or if several did not help, this node may be cut off from the majority of its cluster
   * or from the leader of the queue, so the link tries the next.
   */
  async function reopen(session: Session): Promise<void> {
    if (isDraining.aborted) return
    const earlier = replaced?.on === session ? replaced : undefined
    const receivedByAll = deps.received()
    if (earlier !== undefined && (earlier.received === receivedByAll || earlier.excused === MAX_EXCUSED))
      return session.fail(new Error(`RabbitMQ does not serve the consumer of ${queue} on another channel`))
    replaced = { on: session, received: receivedByAll, excused: earlier === undefined ? 0 : earlier.excused + 1 }
    const former = channel
    attached = undefined
    const attaching = attach(session)
    void former?.abandon()
    await attaching
  }

  async function take(message: ConsumeMessage, from: ConsumerChannel): Promise<void> {
    inFlight += 1
    received += 1
    from.end(message, await processMessage(message, from))
    inFlight -= 1
    if (inFlight === 0) idle?.resolve()
  }

  async function processMessage(message: ConsumeMessage, from: ConsumerChannel): Promise<Disposition> {
    const takenAt = performance.now()
    for (let waits = 0; ; waits++) {
      // Several short waits must not keep a message until the broker's consumer timeout closes the channel.
      if (waits > 0 && performance.now() - takenAt >= timing.retryForMs) return 'return'
      // The channel may be lost while the gate is closed.
      if (!(gate.isOpen() || (await gate.pass())) || from.isRetired()) return 'return'
      try {
        await parseAndHandle(message)
        gate.noteHandled()
        return 'done'
      } catch (error) {
        if (isDraining.aborted) return 'return'
        if (!(error instanceof Unavailable)) return await fail(message, error)
        await gate.failed(error, waits)
      }
    }
  }

  /** A bug, as far as we know with this message alone: the others continue. */
  async function fail(message: ConsumeMessage, error: unknown): Promise<Disposition> {
    const { messageId } = toIncoming(message)
    log.error('message handling failed', { queue, messageId, error })
    await sleep(timing.bugDelayMs, undefined, { signal: isDraining }).catch(() => {})
    return 'failed'
  }

  async function parseAndHandle(message: ConsumeMessage): Promise<void> {
    const incoming = toIncoming(message)
    let value: T
    try {
      value = parse(incoming)
    } catch (error) {
      if (!(error instanceof Unparsable)) throw error
      const { message: reason } = error
      const { exchange, routingKey, messageId } = incoming
      const origin: Origin = { reason, queue, exchange, routingKey, at: new Date().toISOString() }
      await deps.publish(quarantineMessage(message, origin))
      meter?.quarantined()
      return log.warn('message put into quarantine', { queue, reason, messageId })
    }
    await handle(value)
  }

  /** Stops without waiting: nothing new starts, and closing the connection returns the messages in flight. */
  function stop(): void {
    gate.returnWaiting()
    draining.abort()
  }

  return {
    attach,
    stop,
    isPaused: gate.isPaused,
    inFlight: (): number => inFlight,
    /** Messages since the process started. */
    received: (): number => received,
    /**
     * Whether messages can arrive: the broker confirmed the consumer on the link's current connection, and the last check
     * found it. False for a paused consumer. True for one that drains, because it is not expected to consume.
     */
    isConsuming: (session: Session | undefined): boolean =>
      isDraining.aborted || (channel?.session === session && channel?.isConsuming() === true && replaced === undefined),
    /** Replaces the channel once the broker has repeatedly missed its consumer. */
    async check(session: Session): Promise<void> {
      if (isChecking || !gate.isOpen()) return
      const checked = channel
      if (checked?.session !== session) return await attach(session)
      isChecking = true
      const problem = await checked.findProblem()
      isChecking = false
      // The consumer was paused or attached again meanwhile.
      if (checked !== channel || !gate.isOpen()) return
      if (problem !== undefined) {
        log.error('this process has no consumer on a queue', { queue, problem })
        await reopen(session)
      } else if (checked.isServed()) replaced = undefined
    },
    /** Stops taking messages. Resolves when those in flight are acknowledged or returned to the queue. */
    async drain(): Promise<void> {
      stop()
      await channel?.unsubscribe()
      idle ??= Promise.withResolvers()
      if (inFlight > 0) await idle.promise
      await channel?.close()
    },
  }
}
