import { type Delivery, parseDelivery, Unavailable } from '@switchhook/contracts'
import { createFinishedMembers, handleMembers, type PackedDelivery, type Packet } from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import type { StartLimit } from '../endpoint/start-limit.ts'

export interface PacketsDeps {
  /** Resolves once the member may start. Rejects with Unavailable once the worker stops. */
  readonly start: StartLimit['start']
  readonly handle: (due: Delivery) => Promise<void>
  /** Resolves once the member is due as a message of its own. */
  readonly publishAlone: (member: PackedDelivery) => Promise<void>
  readonly log: Pick<Logger, 'error' | 'warn'>
}

export type Packets = ReturnType<typeof createPackets>

/**
 * Each member goes through the pipeline on its own. The packet is acknowledged when the last one has ended. If the worker dies
 * before, the broker returns the packet, and the ledger drops the members that were settled.
 */
export function createPackets({ start, handle, publishAlone, log }: PacketsDeps) {
  const finished = createFinishedMembers<PackedDelivery>()
  let isStopping = false

  return {
    /** Resolves when the packet may be acknowledged, see `handleMembers`. */
    handle: async (packet: Packet<PackedDelivery>): Promise<void> => {
      let hasStarted = false
      /** @throws Unparsable */
      async function handleMember(member: PackedDelivery): Promise<void> {
        const due = parseDelivery(member.content, member.headers)
        try {
          const end = await start()
          hasStarted = true
          await handle(due).finally(end)
        } catch (error) {
          if (!isStopping || !hasStarted || !(error instanceof Unavailable)) throw error
          // Returned, the packet would bring another worker the members that are still being POSTed here.
          await publishAlone(member)
        }
      }
      await handleMembers(packet, { finished, handle: handleMember, publishAlone, log })
    },
    /** Call it before the waits of members end: those of a packet that has started are published alone for other workers. */
    stop: (): void => {
      isStopping = true
    },
  }
}
