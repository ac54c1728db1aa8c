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
  /** The members of a packet are told apart by their places. */
  const handleUnfinished = createUnfinishedParts<Member>((_, at) => at)

  /** @param handle resolves once the packet need not wait for the member any longer */
  return async ({ id, members, returns }: Packet<Member>, handle: (member: Member) => Promise<void>): Promise<void> => {
    const isTakenApart = returns >= RETURNS_TO_TAKE_APART
    if (isTakenApart) log.warn('a packet was returned too often; publishing its members alone', { returns })

    async function handleOne(member: Member): Promise<void> {
      try {
        await handle(member)
      } catch (error) {
        if (error instanceof Unavailable) throw error
        log.error('a member of a packet failed; publishing it alone', { error })
        await publishUnpacked(member)
      }
    }

    await handleUnfinished(id, members, isTakenApart ? publishUnpacked : handleOne)
  }
}

/** Parts that are remembered, of all messages of one instance together: some 20 MB. */
const MAX_REMEMBERED = 200_000

type PartId = string | number

/**
 * Returns the function that works on the parts of a message, so many at once, and awaits them. It rejects with the first
 * failure, and remembers which parts are finished until the message comes back to this process, from its consumer or from the
 * broker: then it leaves them out. Another process, or this one after it forgot, repeats them, which is harmless because all ids
 * are derived.
 */
export function createUnfinishedParts<Part>(idOf: (part: Part, at: number) => PartId, most = MAX_REMEMBERED) {
  /** By the id of the message. Beyond the limit the oldest are forgotten. */
  const finished = new LRUCache<string, ReadonlySet<PartId>>({ maxSize: most, sizeCalculation: ({ size }) => size })

  return async (
    message: string,
    parts: readonly Part[],
    work: (part: Part) => Promise<void>,
    atOnce = parts.length,
  ): Promise<void> => {
    const known = finished.peek(message)
    const missing = known === undefined ? parts : parts.filter((part, at) => !known.has(idOf(part, at)))
    const [first] = missing
    // Most events have one part, a delivery, for which the rest would cost several promises.
    if (first !== undefined && parts.length === 1) return await work(first)
    for (let at = 0; at < missing.length; at += atOnce) {
      const some = missing.slice(at, at + atOnce)
      const results = await Promise.allSettled(some.map((part) => work(part)))
      const failed = results.find((result) => result.status === 'rejected')
      if (failed === undefined) continue
      const left = new Set(missing.filter((_, i) => i >= at + atOnce || results[i - at]?.status === 'rejected'))
      const done = new Set(parts.flatMap((part, n) => (left.has(part) ? [] : [idOf(part, n)])))
      // The cache takes no entry without a size.
      if (done.size > 0) finished.set(message, done)
      else finished.delete(message)
      throw failed.reason
    }
    finished.delete(message)
  }
}
