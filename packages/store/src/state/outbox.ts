import { type PlatformEvent, serialiseEvent } from '@switchhook/contracts'
import { outboxKey, PARTITIONS } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { toMs } from '../redis/to-ms.ts'
import { share } from './share.ts'

/** An event that a commit has stored and no broker has confirmed yet. */
export interface OutboxEntry {
  readonly event: PlatformEvent
  /** Where it lies, for `sent`. */
  readonly partition: number
  readonly id: string
}

/**
 * Events on their way from a commit to the broker. Any number of relays may share it; each event is handed out at least
 * once, and to one relay at a time while that relay lives.
 */
export interface Outbox {
  /**
   * What this relay shall send next: first what it claimed before and has not marked sent, then what relays left behind
   * that have been silent for 15 s, then what is new. One claim at a time.
   */
  claim(max: number): Promise<OutboxEntry[]>
  /** Call it once the broker has confirmed: they are never handed out again. */
  sent(entries: readonly OutboxEntry[]): Promise<void>
  /**
   * Removes the names of other relays that hold no entry and have been idle for so long. Each process has a name of its
   * own, so without this the outbox keeps the name of every process that ever ran. Resolves to how many were removed.
   */
  removeIdleRelays(idleMs?: number): Promise<number>
  /** How many events no relay has marked sent. */
  backlog(): Promise<number>
  /** How long the oldest of them has waited, in ms; 0 when there is none. */
  oldestMs(): Promise<number>
}

const GROUP = 'relay'
/** Longer than a publish waits for its confirm (10 s); for so long events wait that a crashed relay had in hand. */
const DEAD_AFTER_MS = 15_000
/** Removing the name of a relay that lives does no harm, but an operator who looks at the stream should see the recent ones. */
const IDLE_RELAY_MS = 60 * 60_000
/** Lua can unpack only so many arguments at once. */
const LARGEST_CALL = 1_000

/** @param consumerName Unique among the relays that run; one that comes back under its old name resumes at once. */
export function createOutbox(redis: Redis, consumerName: string): Outbox {
  let turn = 0

  const lengths = (): Promise<number[]> =>
    redis[run]((commands) => Promise.all(PARTITIONS.map((partition) => commands.xlen(outboxKey(partition)))))

  async function claimFrom(partition: number, max: number): Promise<OutboxEntry[]> {
    const args = [GROUP, consumerName, max, DEAD_AFTER_MS]
    const reply = await redis[run]((commands) => commands.runScript('state/claim-events', [outboxKey(partition)], args))
    return toEntries(partition, reply)
  }

  return {
    async claim(max) {
      const filled = (await lengths()).flatMap((length, partition) => (length > 0 ? [partition] : []))
      const claims = share(max, filled, turn++).map(([partition, count]) => claimFrom(partition, count))
      return (await Promise.all(claims)).flat()
    },
    async sent(entries) {
      const calls = PARTITIONS.flatMap((partition) => {
        const ids = entries.filter((entry) => entry.partition === partition).map(({ id }) => id)
        return chunks(ids, LARGEST_CALL).map((some) => ({ key: outboxKey(partition), ids: some }))
      })
      await redis[run]((commands) =>
        Promise.all(
          calls.map(({ key, ids }) => commands.runScript('state/remove-sent-events', [key], [GROUP, ...ids])),
        ),
      )
    },
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
      // An entry's id begins with when it was written, in ms, by the clock that TIME reads.
      const ages = first.flatMap(([entry]) => (entry === undefined ? [] : [toMs(time) - Number.parseInt(entry[0], 10)]))
      return Math.max(0, ...ages)
    },
  }
}

/** As an event lies in the outbox. A relay of an earlier version, which knows no trace context, leaves it out. */
export function outboxJson(event: PlatformEvent): string {
  const json = serialiseEvent(event).toString()
  return event.traceparent === undefined ? json : `${json.slice(0, -1)},"traceparent":"${event.traceparent}"}`
}

/** The events were checked when they were written, and fan-out checks them again. */
function toEntries(partition: number, reply: readonly string[]): OutboxEntry[] {
  return chunks(reply, 2).map(([id = '', event = '']) => ({
    id,
    partition,
    event: JSON.parse(event) as PlatformEvent,
  }))
}

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
