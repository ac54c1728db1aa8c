import { type Endpoint, type HeldStore, leaseTimes } from '@switchhook/store'
import type { HeldLimit } from './held-limit.ts'
import { concludeReceived, type RecordingDeps, recordOutcome } from './record-outcomes.ts'

export interface EndLeasesDeps extends RecordingDeps {
  readonly held: Pick<HeldStore, 'lapsed' | 'readLeases' | 'unparked' | 'read' | 'release' | 'remove'>
  readonly parkExcess: HeldLimit['parkExcess']
}

const AT_ONCE = 100

/** Ends leases of a subscription whose time is over, and parks what a worker has claimed because of a limit, and has not parked. */
export function createEndLeases(deps: EndLeasesDeps): (endpoint: Endpoint) => Promise<void> {
  const { held, parkExcess, listAgain } = deps
  return async ({ tenant, subscriptionId }) => {
    const lapsed = await held.lapsed(subscriptionId, AT_ONCE)
    const messages = await held.read(lapsed.map(({ deliveryId }) => deliveryId))
    // After the messages: if a lease has gone meanwhile, its message can be one that another client has received since.
    const leases = await held.readLeases(subscriptionId, lapsed)
    await Promise.all(
      lapsed.map(async (entry, i) => {
        const { deliveryId, score: lease } = entry
        const [message, { isHeld, reported } = { isHeld: false }] = [messages[i], leases[i]]
        // Clients receive deliveries without a url. This one was with a worker that died. Its subscription may have been deleted.
        const isOfWorker = message !== undefined && message.delivery.url !== ''
        if (isOfWorker) return void (await held.release(subscriptionId, [{ deliveryId, lease }]))
        // Its batch waits for a worker, or was lost. Afterwards it changes nothing.
        if (reported !== undefined) await recordOutcome(deps, reported, message)
        // Otherwise it has gone on, or another worker has ended the lease.
        else if (message !== undefined && isHeld) {
          const { beganAtMs, endsAtMs } = leaseTimes(lease)
          await concludeReceived(deps, message.delivery, {
            attempt: message.delivery.attempt + 1,
            at: new Date(beganAtMs).toISOString(),
            durationMs: endsAtMs - beganAtMs,
            outcome: { kind: 'unreachable', reason: 'lapsed' },
          })
        }
        await held.remove(subscriptionId, 'leased', [entry])
        // Its entry may be missing, if another worker has held it again and died. The lease would have counted as one.
        await listAgain({ deliveryId, tenant, subscriptionId })
      }),
    )
    const entries = await held.unparked(subscriptionId, AT_ONCE)
    if (entries.length > 0) await parkExcess([{ tenant, subscriptionId, entries }])
  }
}
