import type { StackFile } from '@switchhook/local'
import { openManagement } from './management.ts'
import { round } from './statistics.ts'

/** How first attempts travelled from fan-out to the workers, by the broker's counters. */
export interface Carriage {
  /** Part of the deliveries that had a message of their own, 0 to 1. */
  readonly alone: number
  readonly packets: number
  /** Deliveries of an average packet; 0 without packets. */
  readonly perPacket: number
}

const QUEUES = /^delivery\.(?:due|backlog|packets)(?:\.(?:\d+|backlog))?$/
const PACKETS = /^delivery\.packets/

/** @param published messages by queue @param deliveries that these messages carried together */
export function carriageOf(published: ReadonlyMap<string, number>, deliveries: number): Carriage {
  let [packets, single] = [0, 0]
  for (const [name, messages] of published) {
    if (PACKETS.test(name)) packets += messages
    else single += messages
  }
  const alone = Math.min(single, deliveries)
  return {
    alone: round(alone / deliveries, 2),
    packets,
    perPacket: packets === 0 ? 0 : round((deliveries - alone) / packets),
  }
}

/** Counts the messages during `work`, which resolves to its deliveries. Null if the broker has no management API. */
export async function countCarriage(stack: StackFile, work: () => Promise<number>): Promise<Carriage | null> {
  if (stack.urls.rabbitmqManagement === null) {
    await work()
    return null
  }
  const management = openManagement(stack)
  const before = await management.publishedTo(QUEUES)
  const deliveries = await work()
  const after = await management.publishedTo(QUEUES)
  return carriageOf(new Map([...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)])), deliveries)
}

export const describeCarriage = (carriage: Carriage | null): string =>
  carriage === null
    ? 'single messages and packets: not known'
    : `${Math.round(carriage.alone * 100)} % of the deliveries alone, ${carriage.packets} packets of ${carriage.perPacket}`
