import type { DeliveryId, SubscriptionId } from '@switchhook/contracts'
import type { Vault } from '@switchhook/signing'
import type { Lease } from '@switchhook/store'

export type LeaseTokens = ReturnType<typeof createLeaseTokens>

/**
 * The tokens of leases, as clients see them. A lease names times, which can be guessed; its token adds a proof that only a
 * process with the keys of the vault can compute, for one receipt of one delivery.
 */
export function createLeaseTokens(vault: Pick<Vault, 'proofOf' | 'isProof'>) {
  return {
    of: (id: SubscriptionId, deliveryId: DeliveryId, lease: string): string =>
      `${lease}.${vault.proofOf(contextOf(id, deliveryId, lease))}`,
    /** Undefined: no token of this delivery. */
    read(id: SubscriptionId, deliveryId: DeliveryId, token: string): Lease | undefined {
      const [lease = '', proof = ''] = token.split('.', 2)
      return vault.isProof(proof, contextOf(id, deliveryId, lease)) ? { deliveryId, lease } : undefined
    },
  }
}

const contextOf = (id: SubscriptionId, deliveryId: DeliveryId, lease: string) => ['lease', id, deliveryId, lease]
