import { Unavailable } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import type { Packet } from './packet.ts'

/** After so many returns a packet is taken apart: one of its members may be ending the process. */
const RETURNS_TO_TAKE_APART = 5

export interface MembersDeps<Member> {
  /** Resolves once the member is stored as a message of its own. */
  readonly publishUnpacked: (member: Member) => Promise<void>
  readonly log: Pick<Logger, 'error' | 'warn'>
}

/**
 * Returns the function that handles the members of a packet, each on its own. Resolved: each of them is handled or stored again.
 * Rejected with Unavailable: the packet must be retried; this process then repeats only the members that are not handled. A
 * member that fails for another reason leaves the packet, so that it holds no other member.
 */
export function createHandleMembers<Member>({ publishUnpacked, log }: MembersDeps<Member>) {
  /** Of all packets that failed. Their members are told apart by their places. */
  const finished = createFinishedParts<Member>((_, at) => at)

  /** @param handle resolves once the packet need not wait for the member any longer */
  return async ({ id, members, returns }: Packet<Member>, handle: (member: Member) => Promise<void>): Promise<void> => {
    const all = finished.left(id, members)
    const isTakenApart = returns >= RETURNS_TO_TAKE_APART
    if (isTakenApart) log.warn('a packet was returned too often; publishing its members alone', { returns })

    async function handleOne(member: Member): Promise<void> {
      if (isTakenApart) return await publishUnpacked(member)
      try {
        await handle(member)
      } catch (error) {
        if (error instanceof Unavailable) throw error
        log.error('a member of a packet failed; publishing it alone', { error })
        await publishUnpacked(member)
      }
    }

    const unfinished = await runAll(all, handleOne)
    if (unfinished === undefined) return finished.forget(id)
    finished.remember(id, members, unfinished.left)
    throw unfinished.error
  }
}

interface Unfinished<Item> {
  readonly error: unknown
  /** The items that failed. */
  readonly left: readonly Item[]
}

/** Runs `work` for every item and awaits all of them, so that the caller can repeat only what failed. Undefined: nothing did. */
export async function runAll<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<Unfinished<Item> | undefined> {
  const results = await Promise.allSettled(items.map(work))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return undefined
  return { error: failed.reason, left: items.filter((_, at) => results[at]?.status === 'rejected') }
}

/** Parts that are remembered, of all messages of one instance together: some 20 MB. */
const MAX_REMEMBERED = 200_000

type PartId = string | number

/**
 * The finished parts of messages that failed, until the message comes back to this process, from its consumer or from the
 * broker. Another process, or this one after it forgot, repeats them, which is harmless because all ids are derived.
 */
export function createFinishedParts<Part>(idOf: (part: Part, at: number) => PartId, most = MAX_REMEMBERED) {
  /** By the id of the message. Beyond the limit the oldest are forgotten. */
  const finished = new LRUCache<string, ReadonlySet<PartId>>({ maxSize: most, sizeCalculation: ({ size }) => size })
  const forget = (message: string): void => void finished.delete(message)

  return {
    /** The parts that are not known to be finished. */
    left(message: string, parts: readonly Part[]): readonly Part[] {
      const known = finished.peek(message)
      return known === undefined ? parts : parts.filter((part, at) => !known.has(idOf(part, at)))
    },
    /** @param left the parts that are not finished */
    remember(message: string, parts: readonly Part[], left: readonly Part[]): void {
      const isLeft = new Set(left)
      const done = new Set(parts.flatMap((part, at) => (isLeft.has(part) ? [] : [idOf(part, at)])))
      // The cache takes no entry without a size.
      if (done.size > 0) finished.set(message, done)
      else forget(message)
    },
    forget,
  }
}
