import type { Outcome } from '@switchhook/contracts'
import type { AddressGuard } from '@switchhook/egress'

/** Where a url leads, as an HTTP client needs it. */
export interface Target {
  readonly kind: 'target'
  readonly origin: string
  readonly path: string
}

/** More urls than a worker meets in a while; 200 bytes each. */
const MOST_TARGETS = 10_000

/**
 * Parses and vets urls, each once: the verdict depends on the url and the configuration alone, and parsing takes longer
 * than the rest of preparing a request. The address that a host name resolves to is vetted at every connection.
 */
export function createTargets(guard: Pick<AddressGuard, 'allowsHost'>): (url: string) => Target | Outcome {
  const known = new Map<string, Target | Outcome>()

  return (url) => {
    let target = known.get(url)
    if (target === undefined) {
      target = targetOf(url, guard)
      if (known.size >= MOST_TARGETS) known.clear()
      known.set(url, target)
    }
    return target
  }
}

function targetOf(url: string, guard: Pick<AddressGuard, 'allowsHost'>): Target | Outcome {
  const parsed = URL.parse(url)
  // A url that was accepted once may be unusable by the rules of a later version.
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return { kind: 'unreachable', reason: 'unusable-url' }
  if (!guard.allowsHost(parsed.hostname)) return { kind: 'unreachable', reason: 'blocked' }
  return { kind: 'target', origin: parsed.origin, path: parsed.pathname + parsed.search }
}
