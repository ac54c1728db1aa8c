import type { Session } from '../link/link.ts'
import { toError } from '../link/to-error.ts'
import type { Log } from '../log.ts'
import type { ConsumerChannel, Sighting } from './consumer-channel.ts'

/** Consecutive checks that must miss the consumer: a single one may fall into the election of a queue's leader. */
const MISSES_TO_RECONNECT = 2

/**
 * Whether the broker shows that a consumer is missing from its queue, whatever this process believes: the queue has no
 * consumer at all, or messages have waited from one sighting to the next, there was room for them, and none arrived.
 * The second rule finds a consumer that is missing while other replicas still have theirs.
 */
export function isConsumerMissing(before: Sighting | undefined, now: Sighting): boolean {
  if (now.consumers === 0) return true
  if (before === undefined) return false
  return couldTake(before) && couldTake(now) && before.taken === now.taken
}

const couldTake = ({ ready, hasRoom }: Sighting): boolean => ready > 0 && hasRoom

/** Looks for signs of one queue's consumer. When they are missing repeatedly, the session fails and is made anew. */
export class ConsumerWatch {
  readonly #queue: string
  readonly #log: Pick<Log, 'error'>
  #channel: ConsumerChannel | undefined
  #sighting: Sighting | undefined
  #misses = 0
  #isMissing = false
  #isChecking = false

  constructor(queue: string, log: Pick<Log, 'error'>) {
    this.#queue = queue
    this.#log = log
  }

  /** The consumer was found missing, and no check has found it since. */
  isMissing(): boolean {
    return this.#isMissing
  }

  /** @param present what the consumer uses now; undefined while it is not to consume */
  async check(session: Session, present: () => { readonly channel: ConsumerChannel | undefined } | undefined) {
    const before = present()
    if (this.#isChecking || before === undefined) return
    this.#isChecking = true
    try {
      const problem = await this.#findProblem(before.channel, session)
      const after = present()
      if (after === undefined || after.channel !== before.channel) this.#misses = 0
      else this.#judge(problem, session)
    } finally {
      this.#isChecking = false
    }
  }

  #judge(problem: string | undefined, session: Session): void {
    if (problem === undefined) {
      this.#misses = 0
      this.#isMissing = false
      return
    }
    this.#misses += 1
    if (this.#misses < MISSES_TO_RECONNECT) return
    this.#misses = 0
    this.#isMissing = true
    this.#log.error('a queue has no consumer of this process; connecting again', { queue: this.#queue, problem })
    session.fail(new Error(`${this.#queue} has no consumer of this process: ${problem}`))
  }

  async #findProblem(channel: ConsumerChannel | undefined, session: Session): Promise<string | undefined> {
    if (channel?.session !== session) return 'it has no channel on the present connection'
    if (!channel.isConsuming()) return 'the broker did not confirm it'
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
