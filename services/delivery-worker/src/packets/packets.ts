import { setTimeout as sleep } from 'node:timers/promises'
import { type Delivery, parseDelivery, Unavailable } from '@switchhook/contracts'
import { createFinishedMembers, handleMembers, type PackedDelivery, type Packet } from '@switchhook/messaging'
import { backoffMs, type Logger, startDeadline } from '@switchhook/runtime'
import type { GiveWay } from '../endpoint/give-way.ts'
import { TURN_PATIENCE_MS } from '../endpoint/isolate.ts'

/** How long a packet waits for a member: while answers are quick, none needs a copy, also after a wait for a turn. */
export const PACKET_PATIENCE_MS = TURN_PATIENCE_MS + 150

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2_000

export interface PacketsDeps {
  /** Members in progress whose packets no longer wait for them. Beyond this number, packets wait. */
  readonly mostLeft: number
  /** How long a packet waits for a member, from when the member begins. It also waits until the POST begins. */
  readonly patienceMs?: number
  /** Calls `begins` when the POST begins: a member that moves to a lane instead must not leave a copy as well. */
  readonly handle: (due: Delivery, begins: () => void) => Promise<void>
  /** Whether a POST of the delivery has a result that could not be settled. `handle` then makes no other POST. */
  readonly hasResult: (due: Delivery) => boolean
  /**
   * Members wait for `begin`, which does not count towards `patienceMs`, and hold their place as long as their packet waits
   * for them. Absent: they do not give way.
   */
  readonly giveWay?: Pick<GiveWay, 'begin'>
  /** Resolves once the member is due as a message of its own. */
  readonly publishAlone: (member: PackedDelivery) => Promise<void>
  /** Resolves once a copy of the delivery is stored, which falls due after `copyWaitMs`. */
  readonly publishCopy: (due: Delivery) => Promise<void>
  /** Longer than any attempt. */
  readonly copyWaitMs: number
  readonly log: Pick<Logger, 'error' | 'warn'>
}

export type Packets = ReturnType<typeof createPackets>

/**
 * Each member goes through the pipeline on its own, and only the acknowledgement is shared. A member whose POST is still in
 * progress after `patienceMs` gets a copy in a wait queue, and its packet no longer waits for it. The copy has the identity of
 * the member, so the ledger drops it once the member has settled its slot; if the worker dies, the copy repeats the attempt.
 */
export function createPackets(deps: PacketsDeps) {
  const { mostLeft, handle, hasResult, giveWay, publishAlone, publishCopy, copyWaitMs, log } = deps
  const { patienceMs = PACKET_PATIENCE_MS } = deps
  const finished = createFinishedMembers<PackedDelivery>()
  /** Members whose copies are stored, or on their way. */
  const left = new Set<Promise<void>>()
  const stopping = new AbortController()

  /** Resolves once the member is done or its copy is stored. */
  function doneOrCopied(due: Delivery): Promise<void> {
    const { promise: doneOrLeft, resolve, reject } = Promise.withResolvers<void>()
    let copied: Promise<number | undefined> | undefined
    async function leave(): Promise<number | undefined> {
      left.add(ended)
      const repeatedAt = await storeCopy(due)
      if (repeatedAt !== undefined) resolve()
      return repeatedAt
    }
    async function work(): Promise<void> {
      try {
        let isPosting = false
        const leaveIfLate = (): void => {
          if (patience.hasPassed && isPosting && left.size < mostLeft) copied ??= leave()
        }
        // Of its own, because a member that gave way begins later than the others.
        const patience = startDeadline(patienceMs, leaveIfLate)
        const begins = (): void => {
          isPosting = true
          leaveIfLate()
        }
        await handle(due, begins).finally(() => patience.stop())
      } catch (error) {
        // If the copy is on its way, the packet must not repeat the member as well.
        const repeatedAt = await copied
        if (repeatedAt === undefined) throw error
        await finish(due, error, repeatedAt)
      }
    }
    const ended = work()
      .then(resolve, reject)
      .finally(() => left.delete(ended))
    return doneOrLeft
  }

  /** Resolves to when the copy falls due, or to undefined if it was not stored. */
  async function storeCopy(due: Delivery): Promise<number | undefined> {
    try {
      await publishCopy(due)
      return performance.now() + copyWaitMs
    } catch (error) {
      log.warn('a packet waits for a member, because its copy was not stored', { error })
      return undefined
    }
  }

  /**
   * Tries again until the copy falls due: it would repeat a POST whose result is known here and not yet settled. Without a
   * result the copy makes the attempt: one that began here could meet it, or wait in a lane for longer than the copy.
   */
  async function finish(due: Delivery, failure: unknown, repeatedAt: number): Promise<void> {
    let error = failure
    for (let tries = 0; ; tries++) {
      if (!(error instanceof Unavailable))
        return log.error('a member of a packet failed; its copy repeats it', { error })
      if (!hasResult(due)) return
      await sleep(backoffMs(tries, FIRST_PAUSE_MS, LONGEST_PAUSE_MS), undefined, stopping).catch(() => {})
      if (stopping.signal.aborted || performance.now() > repeatedAt) return
      try {
        return await handle(due, () => {})
      } catch (next) {
        error = next
      }
    }
  }

  return {
    /** Resolves when the packet may be acknowledged, see `handleMembers`. */
    handle: async (packet: Packet<PackedDelivery>): Promise<void> => {
      /** @throws Unparsable */
      const handleMember = async (member: PackedDelivery): Promise<void> => {
        const due = parseDelivery(member.content, member.headers)
        const end = await giveWay?.begin()
        try {
          if (stopping.signal.aborted) throw new Unavailable('rabbitmq', 'this worker is stopping')
          await doneOrCopied(due)
        } catch (error) {
          if (!stopping.signal.aborted || !(error instanceof Unavailable)) throw error
          // Returned, the packet would bring another worker the members that are still being POSTed here.
          await publishAlone(member)
        } finally {
          end?.()
        }
      }
      await handleMembers(packet, { finished, handle: handleMember, publishAlone, log })
    },
    /** No further member begins: those that cannot go on are published alone for other workers. */
    stop: () => stopping.abort(),
    /** Resolves once the members whose packets no longer wait for them have ended. */
    ended: async () => void (await Promise.all(left)),
  }
}
