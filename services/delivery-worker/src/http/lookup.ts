import { promises as dns, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import type { AddressGuard } from '@switchhook/egress'
import { LRUCache } from 'lru-cache'
import { BLOCKED_ADDRESS, codedError } from '../policy/classify.ts'

export interface LookupOptions {
  /** Forbidden addresses are left out of the result. The connection uses the vetted addresses without another look-up. */
  readonly guard: Pick<AddressGuard, 'allows'>
  /** Timeout of one DNS query, in ms. Each query is sent twice. */
  readonly timeoutMs: number
  /** `address:port` of the name servers. Default: the system's. */
  readonly servers?: readonly string[]
  /** How long a failed look-up is remembered, in ms. Shorter than the first wait of a schedule. */
  readonly forgetFailureMs?: number
}

const FORGET_FAILURE_MS = 5_000
/** A bound, because a client can subscribe with any number of dead names. */
const MAX_FAILURES = 1_000

/**
 * Looks up host names without letting one dead name delay the others. The system's own look-up (getaddrinfo) blocks one of
 * a few threads while a name server is silent, so a few dead names would block all look-ups. Instead:
 * - Name servers are queried directly, through c-ares.
 * - Concurrent look-ups of one name share a query, and a failed one is not repeated for some seconds.
 * - A name that the servers do not know may be in the hosts file or below a search domain. Only then is the system asked;
 *   its answer is quick, because the name servers have just answered.
 */
export function createLookup(options: LookupOptions): LookupFunction {
  const { guard, timeoutMs, servers, forgetFailureMs = FORGET_FAILURE_MS } = options
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const inFlight = new Map<string, Promise<LookupAddress[]>>()
  const failed = new LRUCache<string, Promise<LookupAddress[]>>({ max: MAX_FAILURES, ttl: forgetFailureMs })

  async function find(hostname: string): Promise<LookupAddress[]> {
    // RFC 6761, section 6.3: never sent to a name server.
    if (/(^|\.)localhost$/i.test(hostname)) return askSystem(hostname)
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ]
    if (found.length > 0) return found
    const failures = [v4, v6].flatMap((result) => (result.status === 'rejected' ? [result.reason as Failure] : []))
    const silence = failures.find(({ code }) => code === 'ETIMEOUT')
    if (silence !== undefined) throw silence
    return askSystem(hostname)
  }

  function findOnce(hostname: string): Promise<LookupAddress[]> {
    const known = inFlight.get(hostname) ?? failed.get(hostname)
    if (known !== undefined) return known
    const finding = find(hostname).finally(() => inFlight.delete(hostname))
    inFlight.set(hostname, finding)
    finding.catch(() => failed.set(hostname, finding))
    return finding
  }

  // callbackify calls back outside of the promise, so that an error in the callback does not become an unhandled rejection.
  const findThenCall = callbackify(findOnce)

  return (hostname, options, callback) => {
    findThenCall(hostname, (error, addresses) => {
      if (error !== null) return callback(error, '')
      const vetted = addresses.filter(({ address }) => guard.allows(address))
      if (vetted.length === 0 && addresses.length > 0) return callback(blocked(hostname), '')
      const fitting = vetted.filter(({ family }) => !options.family || options.family === family)
      const [first] = fitting
      if (first === undefined)
        return callback(codedError('ENOTFOUND', `${hostname} has no address of the requested family`), '')
      return options.all === true ? callback(null, fitting) : callback(null, first.address, first.family)
    })
  }
}

type Failure = NodeJS.ErrnoException

const askSystem = (hostname: string): Promise<LookupAddress[]> => dns.lookup(hostname, { all: true, order: 'verbatim' })

export const blocked = (hostname: string): Failure =>
  codedError(BLOCKED_ADDRESS, `every address of ${hostname} is blocked`)
