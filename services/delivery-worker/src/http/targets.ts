import type { Outcome } from '@switchhook/contracts'
import type { AddressGuard } from '@switchhook/egress'
import { LRUCache } from 'lru-cache'

/** A url as an HTTP client needs it. */
export interface Target {
  readonly kind: 'target'
  readonly origin: string
  readonly path: string
}

/** More urls than a worker uses at a time; 200 bytes each. */
const MAX_TARGETS = 10_000

/**
 * Parses and vets urls. Results are cached: they depend only on the url and the configuration, and parsing takes longer
 * than the rest of preparing a request. The addresses of a host name are vetted at every connection instead.
 */
export function createTargets(guard: Pick<AddressGuard, 'allowsHost'>): (url: string) => Target | Outcome {
  const known = new LRUCache<string, Target | Outcome>({ max: MAX_TARGETS, memoMethod: (url) => targetOf(url, guard) })
  return (url) => known.memo(url)
}

function targetOf(url: string, guard: Pick<AddressGuard, 'allowsHost'>): Target | Outcome {
  const parsed = URL.parse(url)
  // An earlier version may have accepted a url that this version cannot use.
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return { kind: 'unreachable', reason: 'unusable-url' }
  if (!guard.allowsHost(parsed.hostname)) return { kind: 'unreachable', reason: 'blocked' }
  return { kind: 'target', origin: parsed.origin, path: parsed.pathname + parsed.search }
}
