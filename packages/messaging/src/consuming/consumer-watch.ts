import { type Session, toError } from '../link/session.ts'
import type { ConsumerDeps } from './consume-options.ts'
import type { ConsumerChannel, Sighting } from './consumer-channel.ts'

/** Consecutive checks that must miss the consumer: a single one may fall into a leader election of the queue. */
const MISSES_TO_REOPEN = 2

/** Replacements that messages of other consumers excuse: a node can be cut off from the leader of one queue alone. */
const MAX_EXCUSED = 5

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

/** Whether a sighting shows that this channel is served. Ready messages of which none ever arrived leave it open. */
const isServed = (now: Sighting | undefined): boolean => now !== undefined && (now.taken > 0 || !couldTake(now))

const couldTake = ({ ready, hasRoom }: Sighting): boolean => ready > 0 && hasRoom

/** Checks that the broker serves one queue's consumer. */
export function createConsumerWatch(queue: string, { log, received }: Pick<ConsumerDeps, 'log' | 'received'>) {
  let seen: { readonly channel: ConsumerChannel; readonly sighting: Sighting | undefined } | undefined
  let misses = 0
  /** The connection of the last check. */
  let checkedOn: Session | undefined
  /** When the channel was last replaced. Undefined once a check has found the consumer since. */
  let replaced: { readonly on: Session; readonly received: number; readonly excused: number } | undefined
  let isChecking = false

  function count(problem: string | undefined): boolean {
    if (problem === undefined) {
      misses = 0
      if (isServed(seen?.sighting)) replaced = undefined
      return false
    }
    misses += 1
    if (misses < MISSES_TO_REOPEN) return false
    log.error('this process has no consumer on a queue', { queue, problem })
    return true
  }

  async function findProblem(channel: ConsumerChannel | undefined, session: Session): Promise<string | undefined> {
    if (channel?.session !== session) return 'no channel on the current connection'
    if (!channel.isConsuming()) return 'the broker has not confirmed the consumer'
    const before = seen?.channel === channel ? seen.sighting : undefined
    seen = { channel, sighting: undefined }
    try {
      const now = await channel.inspect()
      seen = { channel, sighting: now }
      if (!isConsumerMissing(before, now)) return undefined
      return `the queue has ${now.consumers} consumers and ${now.ready} ready messages, and none arrived`
    } catch (error) {
      return toError(error).message
    }
  }

  return {
    /** True from the moment that the channel is replaced until a check finds the consumer. */
    isMissing: (): boolean => replaced !== undefined,
    /**
     * Notes that the channel is replaced. False: it was replaced on this connection before, no check found it since, and
     * either no consumer received a message (a node that is cut off sends none) or too many replacements did not help.
     */
    mayReplace(session: Session): boolean {
      misses = 0
      const earlier = replaced?.on === session ? replaced : undefined
      if (earlier !== undefined && (earlier.received === received() || earlier.excused === MAX_EXCUSED)) return false
      replaced = { on: session, received: received(), excused: earlier === undefined ? 0 : earlier.excused + 1 }
      return true
    },
    /**
     * Resolves to true after repeated misses: the caller must replace the channel, or the connection.
     * @param current the consumer's channel; undefined while it is not supposed to consume
     */
    async check(
      session: Session,
      current: () => { readonly channel: ConsumerChannel | undefined } | undefined,
    ): Promise<boolean> {
      const before = current()
      if (isChecking || before === undefined) return false
      isChecking = true
      // A new connection attaches the consumer again, and may still do so.
      if (checkedOn !== session) misses = 0
      checkedOn = session
      try {
        const problem = await findProblem(before.channel, session)
        const after = current()
        if (after !== undefined && after.channel === before.channel) return count(problem)
        misses = 0
        return false
      } finally {
        isChecking = false
      }
    },
  }
}
