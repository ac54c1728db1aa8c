import type { PlatformEvent } from '@switchhook/contracts'
import { outboxKey, PARTITIONS } from '../keys.ts'
import { chunksOf } from '../redis/in-chunks.ts'
import { pipeline, type Redis, runScript } from '../redis/redis.ts'
import { divideEvenly } from './divide-evenly.ts'

/** An event that a commit has stored and that the broker has not confirmed yet. */
export interface OutboxEntry {
  readonly event: PlatformEvent
  /** `partition` and `id` identify the entry for `sent`. */
  readonly partition: number
  readonly id: string
}

export const GROUP = 'relay'
/** All relays claim with this name: how long an event has been idle says whether its relay still runs. */
export const CONSUMER = 'relay'
/**
 * Events that a crashed process had claimed wait this long. Longer than a publish waits for its confirm (10 s): otherwise a
 * slow broker would get the events of running processes twice (ADR 0058).
 */
export const DEAD_AFTER_MS = 11_000
/** Redis serves nothing else during a call: about 0.1 ms for so many entries. */
const MAX_SENT = 100

export type Outbox = ReturnType<typeof createOutbox>

/**
 * Events between their commit and the broker's confirm. Several relays may share the outbox. Each event is claimed at least
 * once. Another relay claims it again if it was not marked as sent in time.
 */
export function createOutbox(redis: Redis) {
  let round = 0

  const lengths = (): Promise<number[]> =>
    pipeline(redis, (commands) => PARTITIONS.map((partition) => commands.xlen(outboxKey(partition))))

  /** Does not validate the events: they were validated when they were written, and fan-out validates them again. */
  async function claimFrom(partition: number, max: number): Promise<OutboxEntry[]> {
    const args = [GROUP, CONSUMER, max, DEAD_AFTER_MS]
    const reply = await runScript(redis, 'state/claim-events', [outboxKey(partition)], args)
    return [...chunksOf(reply, 2)].map(([id = '', event = '']) => ({
      id,
      partition,
      event: JSON.parse(event) as PlatformEvent,
    }))
  }

  return {
    /**
     * The events that this relay must send next: first those that were given back, or that a relay has not marked as sent
     * for 11 s, then new ones. Do not call it concurrently.
     */
    async claim(max: number): Promise<OutboxEntry[]> {
      const filled = (await lengths()).flatMap((length, partition) => (length > 0 ? [partition] : []))
      const claims = divideEvenly(max, filled, round++).map(([partition, count]) => claimFrom(partition, count))
      return (await Promise.all(claims)).flat()
    },
    /** Call it once the broker has confirmed the events. They are then never claimed again. */
    async sent(entries: readonly OutboxEntry[]): Promise<void> {
      await pipeline(redis, (commands) =>
        byPartition(entries).map(({ key, ids }) =>
          commands.runScript('state/remove-sent-events', [key], [GROUP, ...ids]),
        ),
      )
    },
    /** Leaves events to any relay's `claim`, because they cannot be sent now. Otherwise it finds them after 11 s. */
    async giveBack(entries: readonly OutboxEntry[]): Promise<void> {
      await pipeline(redis, (commands) =>
        byPartition(entries).map(({ key, ids }) =>
          commands.xclaim(key, GROUP, CONSUMER, 0, ...ids, 'IDLE', DEAD_AFTER_MS, 'JUSTID'),
        ),
      )
    },
    /** Number of events that are not marked as sent. */
    async depth(): Promise<number> {
      return (await lengths()).reduce((sum, length) => sum + length, 0)
    },
    /** Age of the oldest of them in ms; 0 if there is none. */
    async oldestMs(): Promise<number> {
      const [nowMs, ...first] = await pipeline(redis, (commands) => [
        commands.nowMs(),
        ...PARTITIONS.map((partition) => commands.xrange(outboxKey(partition), '-', '+', 'COUNT', 1)),
      ])
      // An entry's id begins with the time at which it was written, in ms, by the clock that TIME reads.
      const ages = first.flatMap(([entry]) => (entry === undefined ? [] : [nowMs - Number.parseInt(entry[0], 10)]))
      return Math.max(0, ...ages)
    },
  }
}

/** The entries of each partition, in calls of bounded size. */
const byPartition = (entries: readonly OutboxEntry[]): { readonly key: string; readonly ids: readonly string[] }[] =>
  [...Map.groupBy(entries, ({ partition }) => partition)].flatMap(([partition, some]) =>
    [...chunksOf(some, MAX_SENT)].map((chunk) => ({ key: outboxKey(partition), ids: chunk.map(({ id }) => id) })),
  )
