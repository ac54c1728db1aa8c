import { createAddressGuard } from '@switchhook/egress'
import { type Logger, startDeadline } from '@switchhook/runtime'
import { createSigner, openVault } from '@switchhook/signing'
import type { Clocks } from '../clocks.ts'
import type { WorkerConfig } from '../config.ts'
import { createLookup } from './lookup.ts'
import { createPostClient } from './post.ts'
import { createPostUnderLease, type PostUnderLease, type Renew } from './post-under-lease.ts'
import { createTunnels } from './tunnel.ts'

/** Makes signed POSTs to public addresses, through the operator's proxy if there is one. */
export type EndpointClient = ReturnType<typeof createEndpointClient>

interface EndpointClientDeps extends Clocks {
  readonly config: WorkerConfig
  /** Maximum number of connections to one endpoint. */
  readonly maxSockets: number
  readonly log: Logger
}

export function createEndpointClient({ config, maxSockets, log, redisNow, nowMs }: EndpointClientDeps) {
  const guard = createAddressGuard(config.WEBHOOK_ALLOWED_NETWORKS)
  const vault = openVault(config, log)
  const signer = createSigner({ vault, log, now: redisNow })
  const timeoutMs = config.DELIVERY_TIMEOUT
  const proxy = config.EGRESS_PROXY_URL
  // Two tries of two queries then fit into the deadline.
  const lookup = createLookup({ guard, timeoutMs: Math.ceil(timeoutMs / 4) })
  const tunnel = proxy && createTunnels({ proxy, guard, lookup, timeoutMs, log })
  const client = createPostClient({ timeoutMs, maxSockets, guard, lookup, tunnel, signer })
  const { writeWithin } = client
  return {
    ...client,
    canSign: signer.canSign,
    /** The deadline of one attempt. */
    deadlineMs: timeoutMs,
    postUnderLease: (renew: Renew): PostUnderLease =>
      createPostUnderLease({ writeWithin, startDeadline: () => startDeadline(timeoutMs), renew, nowMs }),
  }
}
