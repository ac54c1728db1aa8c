import { setTimeout as sleep } from 'node:timers/promises'
import { managementOf, type StackFile } from '@switchhook/local'
import { openManagement } from '@switchhook/testkit'
import { round } from './statistics.ts'

const QUEUES = /^delivery\.(?:due|backlog|packets)(?:\.(?:\d+|backlog))?$/
const PACKETS = /^delivery\.packets/

/**
 * How first attempts travelled from fan-out to the workers, by the broker's counters.
 * @param published messages by queue
 * @param deliveries that these messages carried together
 */
export function carriageOf(published: ReadonlyMap<string, number>, deliveries: number) {
  let [packets, single] = [0, 0]
  for (const [name, messages] of published) {
    if (PACKETS.test(name)) packets += messages
    else single += messages
  }
  const alone = Math.min(single, deliveries)
  return {
    /** Part of the deliveries that had a message of their own, 0 to 1. */
    alone: round(alone / deliveries, 2),
    packets,
    /** Deliveries of an average packet; 0 without packets. */
    perPacket: packets === 0 ? 0 : round((deliveries - alone) / packets),
  }
}

/** Longer than the broker's statistics interval, also when it is busy: 1 s as the stack configures it, 5 s by default. */
const COUNTS_LAG_MS = 6_000
const MAX_READINGS = 7

/**
 * Messages published to each queue since it was declared, once the counters no longer grow: the broker updates its statistics
 * at intervals.
 */
async function countPublished(stack: StackFile): Promise<ReadonlyMap<string, number>> {
  const management = openManagement(managementOf(stack), '/')
  const names = (await management.queues()).map(({ name }) => name).filter((name) => QUEUES.test(name))
  /** Asks for one queue: the broker answers the list of all from a cache. */
  const read = async (name: string): Promise<[string, number]> => {
    const queue = (await management.call('GET', `queues/%2F/${name}`)) as { message_stats?: { publish?: number } }
    return [name, queue.message_stats?.publish ?? 0]
  }
  let last: [string, number][] = []
  for (let readings = 0; readings < MAX_READINGS; readings++) {
    if (readings > 0) await sleep(COUNTS_LAG_MS)
    const counts = await Promise.all(names.map(read))
    if (JSON.stringify(counts) === JSON.stringify(last)) break
    last = counts
  }
  return new Map(last)
}

/**
 * Counts the messages during `work`, which resolves to its deliveries.
 * @throws if the stack's broker has no management API
 */
export async function countCarriage(stack: StackFile, work: () => Promise<number>) {
  const before = await countPublished(stack)
  const deliveries = await work()
  const after = await countPublished(stack)
  return carriageOf(new Map([...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)])), deliveries)
}

export const describeCarriage = ({ alone, packets, perPacket }: ReturnType<typeof carriageOf>): string =>
  `${Math.round(alone * 100)} % of the deliveries alone, ${packets} packets of ${perPacket}`
