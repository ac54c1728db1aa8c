import type { Delivery, Outcome } from '@switchhook/contracts'
import { type AddressGuard, createAddressGuard, createLookup } from '@switchhook/egress'
import { type Logger, startDeadline } from '@switchhook/runtime'
import { attemptHeaders, createSigner, openVault, type Signer } from '@switchhook/signing'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../clocks.ts'
import type { WorkerConfig } from '../config.ts'
import { type ConnectionOptions, openConnections } from './connections.ts'
import {
  createPostUnderLease,
  type PostTerms,
  type PostUnderLease,
  type Renew,
  type Unfinished,
} from './post-under-lease.ts'
import { createTunnels } from './tunnel.ts'
import { Axios, undiciAdapter } from './undici-adapter.ts'

export type EndpointClient = ReturnType<typeof createEndpointClient>

interface EndpointClientDeps extends Clocks {
  readonly config: WorkerConfig
  /** Maximum number of connections to one endpoint. */
  readonly maxSockets: number
  readonly log: Logger
}

/** Makes signed POSTs to public addresses, through the operator's proxy if there is one. */
export function createEndpointClient({ config, maxSockets, log, redisNow, nowMs }: EndpointClientDeps) {
  const guard = createAddressGuard(config.WEBHOOK_ALLOWED_NETWORKS)
  const vault = openVault(config, log)
  const signer = createSigner({ vault, log, now: redisNow })
  const timeoutMs = config.DELIVERY_TIMEOUT
  const proxy = config.EGRESS_PROXY_URL
  // Two tries of two queries then fit into the deadline.
  const lookup = createLookup({ guard, timeoutMs: Math.ceil(timeoutMs / 4) })
  const way = proxy && createTunnels({ proxy, timeoutMs, log })
  const client = createPostClient({ timeoutMs, maxSockets, guard, lookup, way, signer })
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

export interface PostOptions extends ConnectionOptions {
  /** Checks addresses: before the attempt if the url contains one, and before every connection. */
  readonly guard: AddressGuard
  /** Signs an attempt that is made now, and has the headers that the subscription asks for. Absent: there are neither. */
  readonly signer?: Pick<Signer, 'headersOf' | 'ownHeadersOf'>
}

/** Sends deliveries (specification, "Delivery request"). Never follows redirects, never uses a proxy of the environment. */
export function createPostClient(options: PostOptions) {
  const { guard, signer } = options
  const targetOf = createTargets(guard)
  const connections = openConnections(options)
  // The bare class without defaults: axios merges each of them into every request. The adapter has method, headers and body.
  // It checks no status and transforms nothing, because the answer's excerpt is already text.
  const client = new Axios({})

  /**
   * Sends one request, unless the lease in `terms` ends before it is written. Anything that the endpoint does is an
   * Outcome; only our own failures are thrown.
   */
  async function writeWithin(delivery: Delivery, attempt: number, terms: PostTerms): Promise<Outcome | Unfinished> {
    const target = targetOf(delivery.url)
    if (target.kind !== 'target') return target
    const own = signer?.ownHeadersOf(delivery) ?? {}
    const headers = { ...own, ...attemptHeaders(delivery, attempt, signer?.headersOf) }
    const { origin, path } = target
    const request = { origin, path, method: 'POST', headers, body: delivery.body } as const
    const adapter = undiciAdapter(connections, request, { ...terms, hidden: Object.values(own) })
    return (await client.request<Outcome | Unfinished>({ adapter })).data
  }

  return {
    writeWithin,
    /** Whether the endpoint has lately sent something on a kept connection that was no answer. */
    sendsStrays: (url: string): boolean => connections.strays.has(originOf(url)),
    /** Keeps connections to the endpoint again, for a check. */
    forgetStrays: (url: string): void => void connections.strays.delete(originOf(url)),
    close: () => connections.close(),
  }
}

const originOf = (url: string): string => URL.parse(url)?.origin ?? ''

/** More urls than a worker uses at a time; 200 bytes each. */
const MAX_TARGETS = 10_000

/**
 * Parses and vets urls. Results are cached: they depend only on the url and the configuration, and parsing takes longer
 * than the rest of preparing a request. The addresses of a host name are vetted at every connection instead.
 */
export function createTargets(guard: Pick<AddressGuard, 'allowsHost'>) {
  const memoMethod = (url: string) => targetOf(url, guard)
  const known = new LRUCache<string, ReturnType<typeof targetOf>>({ max: MAX_TARGETS, memoMethod })
  return (url: string) => known.memo(url)
}

function targetOf(url: string, guard: Pick<AddressGuard, 'allowsHost'>) {
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    return { kind: 'unreachable', reason: 'unusable-url' } as const
  if (!guard.allowsHost(parsed.hostname)) return { kind: 'unreachable', reason: 'blocked' } as const
  return { kind: 'target', origin: parsed.origin, path: parsed.pathname + parsed.search } as const
}
