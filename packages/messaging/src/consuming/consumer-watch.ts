import type { Logger } from '@switchhook/runtime'
import { type Session, toError } from '../link/session.ts'
import type { ConsumerChannel, Sighting } from './consumer-channel.ts'

/** Consecutive checks that must miss the consumer: a single one may fall into a leader election of the queue. */
const MISSES_TO_RECONNECT = 2

/**
 * Whether a consumer is missing from its queue according to the broker, independent of this process's own state. Either the
 * queue has no consumer at all; or messages were ready at two sightings, the channel had room for them, and none arrived.
 * The second rule finds a missing consumer while other replicas still have theirs.
 */
export function isConsumerMissing(before: Sighting | undefined, now: Sighting): boolean {
  if (now.consumers === 0) return true
  if (before === undefined) return false
  return couldTake(before) && couldTake(now) && before.taken === now.taken
}

const couldTake = ({ ready, hasRoom }: Sighting): boolean => ready > 0 && hasRoom

/** Checks that the broker serves one queue's consumer. After repeated misses the session fails, and the link reconnects. */
export class ConsumerWatch {
  readonly #queue: string
  readonly #log: Pick<Logger, 'error'>
  #channel: ConsumerChannel | undefined
  #sighting: Sighting | undefined
  #misses = 0
  #isMissing = false
  #isChecking = false

  constructor(queue: string, log: Pick<Logger, 'error'>) {
    this.#queue = queue
    this.#log = log
  }

  /** True from the moment that a consumer counts as missing until a check finds it. */
  isMissing(): boolean {
    return this.#isMissing
  }

  /** @param current the consumer's channel; undefined while it is not supposed to consume */
  async check(session: Session, current: () => { readonly channel: ConsumerChannel | undefined } | undefined) {
    const before = current()
    if (this.#isChecking || before === undefined) return
    this.#isChecking = true
    try {
      const problem = await this.#findProblem(before.channel, session)
      const after = current()
      if (after === undefined || after.channel !== before.channel) this.#misses = 0
      else this.#count(problem, session)
    } finally {
      this.#isChecking = false
    }
  }

  #count(problem: string | undefined, session: Session): void {
    if (problem === undefined) {
      this.#misses = 0
      this.#isMissing = false
      return
    }
    this.#misses += 1
    if (this.#misses < MISSES_TO_RECONNECT) return
    this.#misses = 0
    this.#isMissing = true
    this.#log.error('this process has no consumer on a queue; reconnecting', { queue: this.#queue, problem })
    session.fail(new Error(`${this.#queue} has no consumer of this process: ${problem}`))
  }

  async #findProblem(channel: ConsumerChannel | undefined, session: Session): Promise<string | undefined> {
    if (channel?.session !== session) return 'no channel on the current connection'
    if (!channel.isConsuming()) return 'the broker has not confirmed the consumer'
    const before = this.#channel === channel ? this.#sighting : undefined
    this.#channel = channel
    this.#sighting = undefined
    try {
      const now = await channel.look()
      this.#sighting = now
      if (!isConsumerMissing(before, now)) return undefined
      return `the queue has ${now.consumers} consumers and ${now.ready} ready messages, and none arrived`
    } catch (error) {
      return toError(error).message
    }
  }
}
