import { createAddressGuard } from '@switchhook/egress'
import type { Logger } from '@switchhook/runtime'
import { createSigner, openVault } from '@switchhook/signing'
import type { WorkerConfig } from '../config.ts'
import { createLookup } from './lookup.ts'
import { createPostClient } from './post.ts'
import { createTunnels } from './tunnel.ts'

/** Makes signed POSTs to public addresses, through the operator's proxy if there is one. */
export type EndpointClient = ReturnType<typeof createEndpointClient>

/**
 * @param maxSockets maximum number of connections to one endpoint
 * @param redisNow decides which secrets still sign
 */
export function createEndpointClient(config: WorkerConfig, maxSockets: number, log: Logger, redisNow: () => number) {
  const guard = createAddressGuard(config.WEBHOOK_ALLOWED_NETWORKS)
  const vault = openVault(config, log)
  const signer = createSigner({ vault, log, now: redisNow })
  const timeoutMs = config.DELIVERY_TIMEOUT
  const proxy = config.EGRESS_PROXY_URL
  // Two tries of two queries then fit into the deadline.
  const lookup = createLookup({ guard, timeoutMs: Math.ceil(timeoutMs / 4) })
  const tunnel = proxy && createTunnels({ proxy, guard, lookup, timeoutMs, log })
  return { ...createPostClient({ timeoutMs, maxSockets, guard, lookup, tunnel, signer }), canSign: signer.canSign }
}
