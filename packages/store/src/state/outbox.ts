import { eventText, type PlatformEvent } from '@switchhook/contracts'
import { outboxKey, PARTITIONS, RELAYS_KEY } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { toMs } from '../redis/server-clock.ts'
import { share } from './share.ts'

/** An event that a commit has stored and that the broker has not confirmed yet. */
export interface OutboxEntry {
  readonly event: PlatformEvent
  /** `partition` and `id` identify the entry for `sent`. */
  readonly partition: number
  readonly id: string
}

/**
 * Events between their commit and the broker's confirm. Several relays may share the outbox. Each event is claimed at least
 * once, and by one relay at a time as long as that relay runs.
 */
export interface Outbox {
  /**
   * The events that this relay must send next: first its own that it has not marked as sent, then those of relays that
   * have been silent for 15 s, then new ones. Do not call it concurrently.
   */
  claim(max: number): Promise<OutboxEntry[]>
  /**
   * Gives events that a commit has claimed to `claim`, because they cannot be sent now. Without it, `claim` finds them
   * after 15 s.
   */
  giveBack(entries: readonly OutboxEntry[]): Promise<void>
  /**
   * Gives `claim` the events that an earlier process of this name had claimed in its commits. Call it before the first
   * commit.
   */
  resume(): Promise<void>
  /**
   * Shows the other relays that this one runs. Resolves to the latest sign of each relay that gave one within the last hour,
   * by name; a running relay has a new one at each of its calls.
   */
  beat(): Promise<ReadonlyMap<string, string>>
  /**
   * Gives `claim` the events that a dead relay and the commits of its process had claimed. Resolves to how many there were.
   * If that relay runs after all, its events are sent twice.
   */
  takeOver(relay: string): Promise<number>
  /** Call it once the broker has confirmed the events. They are then never claimed again. */
  sent(entries: readonly OutboxEntry[]): Promise<void>
  /**
   * Removes the names of other relays that hold no entry and have been idle for `idleMs`. Each process has its own name,
   * so without this the outbox would keep the name of every process that ever ran. Resolves to how many were removed.
   */
  removeIdleRelays(idleMs?: number): Promise<number>
  /** Number of events that are not marked as sent. */
  backlog(): Promise<number>
  /** Age of the oldest of them in ms; 0 if there is none. */
  oldestMs(): Promise<number>
}

export const GROUP = 'relay'
/**
 * The name that the commits of a relay's process claim with. It differs from the relay's own, because `claim` repeats what
 * the relay has claimed and not sent, and must not repeat what was just committed and is being sent.
 */
export const committerOf = (consumerName: string): string => `${consumerName} commits`

/** Longer than a publish waits for its confirm (10 s). Events that a crashed relay had claimed wait this long. */
const DEAD_AFTER_MS = 15_000
/** Removing the name of a running relay does no harm. The hour lets operators see the recent ones. */
const IDLE_RELAY_MS = 60 * 60_000
/** Lua's `unpack` fails with too many values. */
const LARGEST_CALL = 1_000

/** @param consumerName unique among the running relays; a relay that restarts under its old name resumes at once */
export function createOutbox(redis: Redis, consumerName: string): Outbox {
  let round = 0

  const lengths = (): Promise<number[]> =>
    redis[run]((commands) => Promise.all(PARTITIONS.map((partition) => commands.xlen(outboxKey(partition)))))

  async function claimFrom(partition: number, max: number): Promise<OutboxEntry[]> {
    const args = [GROUP, consumerName, max, DEAD_AFTER_MS]
    const reply = await redis[run]((commands) => commands.runScript('state/claim-events', [outboxKey(partition)], args))
    return toEntries(partition, reply)
  }

  /** Claims the entries of another name in the group. */
  async function takeFrom(holder: string): Promise<number> {
    const args = [GROUP, consumerName, holder, LARGEST_CALL]
    const taken = await redis[run]((commands) =>
      Promise.all(
        PARTITIONS.map((partition) => commands.runScript('state/take-back-events', [outboxKey(partition)], args)),
      ),
    )
    return taken.reduce((sum, count) => sum + count, 0)
  }

  return {
    async claim(max) {
      const filled = (await lengths()).flatMap((length, partition) => (length > 0 ? [partition] : []))
      const claims = share(max, filled, round++).map(([partition, count]) => claimFrom(partition, count))
      return (await Promise.all(claims)).flat()
    },
    async sent(entries) {
      await redis[run]((commands) =>
        Promise.all(
          byPartition(entries).map(({ key, ids }) =>
            commands.runScript('state/remove-sent-events', [key], [GROUP, ...ids]),
          ),
        ),
      )
    },
    async giveBack(entries) {
      await redis[run]((commands) =>
        Promise.all(
          byPartition(entries).map(({ key, ids }) => commands.xclaim(key, GROUP, consumerName, 0, ...ids, 'JUSTID')),
        ),
      )
    },
    resume: async () => void (await takeFrom(committerOf(consumerName))),
    async beat() {
      const nowMs = Date.now()
      const [, , , reply] = await redis[run]((commands) =>
        Promise.all([
          commands.zadd(RELAYS_KEY, nowMs, consumerName),
          commands.pexpire(RELAYS_KEY, IDLE_RELAY_MS),
          commands.zremrangebyscore(RELAYS_KEY, '-inf', nowMs - IDLE_RELAY_MS),
          commands.zrange(RELAYS_KEY, '0', '-1', 'WITHSCORES'),
        ]),
      )
      return new Map(chunks(reply, 2).map(([relay = '', sign = '']) => [relay, sign]))
    },
    takeOver: async (relay) => (await takeFrom(relay)) + (await takeFrom(committerOf(relay))),
    async removeIdleRelays(idleMs = IDLE_RELAY_MS) {
      const args = [GROUP, consumerName, idleMs]
      const removed = await redis[run]((commands) =>
        Promise.all(
          PARTITIONS.map((partition) => commands.runScript('state/remove-idle-relays', [outboxKey(partition)], args)),
        ),
      )
      return removed.reduce((sum, count) => sum + count, 0)
    },
    async backlog() {
      return (await lengths()).reduce((sum, length) => sum + length, 0)
    },
    async oldestMs() {
      const [time, ...first] = await redis[run]((commands) =>
        Promise.all([
          commands.time(),
          ...PARTITIONS.map((partition) => commands.xrange(outboxKey(partition), '-', '+', 'COUNT', 1)),
        ]),
      )
      // An entry's id begins with the time at which it was written, in ms, by the clock that TIME reads.
      const ages = first.flatMap(([entry]) => (entry === undefined ? [] : [toMs(time) - Number.parseInt(entry[0], 10)]))
      return Math.max(0, ...ages)
    },
  }
}

/** The stored form of an event. Relays of versions without tracing ignore the trace context. */
export function outboxJson(event: PlatformEvent): string {
  const json = eventText(event)
  return event.traceparent === undefined ? json : `${json.slice(0, -1)},"traceparent":"${event.traceparent}"}`
}

/** The entries of each partition, in calls of bounded size. */
const byPartition = (entries: readonly OutboxEntry[]): { readonly key: string; readonly ids: string[] }[] =>
  PARTITIONS.flatMap((partition) => {
    const ids = entries.filter((entry) => entry.partition === partition).map(({ id }) => id)
    return chunks(ids, LARGEST_CALL).map((some) => ({ key: outboxKey(partition), ids: some }))
  })

/** Does not validate the events: they were validated when they were written, and fan-out validates them again. */
function toEntries(partition: number, reply: readonly string[]): OutboxEntry[] {
  return chunks(reply, 2).map(([id = '', event = '']) => ({
    id,
    partition,
    event: JSON.parse(event) as PlatformEvent,
  }))
}

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
