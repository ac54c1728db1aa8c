import { promises as dns, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { callbackify } from 'node:util'
import type { AddressGuard } from '@switchhook/egress'
import { type Deadline, startDeadline } from '@switchhook/runtime'
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
  /** Default: whether an interface other than the loopback has an IPv4 address. */
  readonly hasIpv4?: boolean
}

/** RFC 8305, section 3: how long IPv6 addresses are waited for. Some name servers drop the query for them. */
const RESOLUTION_DELAY_MS = 50
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
  const { guard, timeoutMs, servers, forgetFailureMs = FORGET_FAILURE_MS, hasIpv4 = hasOutwardIpv4() } = options
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const inFlight = new Map<string, Promise<LookupAddress[]>>()
  const failed = new LRUCache<string, Promise<LookupAddress[]>>({ max: MAX_FAILURES, ttl: forgetFailureMs })

  /**
   * Asks for both families. Once IPv4 has an allowed address, IPv6 is waited for only a moment; this host may have no IPv6.
   * A host without IPv4 waits for both answers.
   */
  async function askServers(hostname: string): Promise<{ found: LookupAddress[]; failures: Failure[] }> {
    const found: LookupAddress[] = []
    const failures: Failure[] = []
    const { promise: enough, resolve: isEnough } = Promise.withResolvers<void>()
    let delay: Deadline | undefined
    async function ask(family: 4 | 6, answer: Promise<string[]>): Promise<void> {
      try {
        const addresses = await answer
        found.push(...addresses.map((address) => ({ address, family })))
        if (family === 4 && hasIpv4 && addresses.some((address) => guard.allows(address)))
          delay = startDeadline(RESOLUTION_DELAY_MS, isEnough)
      } catch (failure) {
        failures.push(failure as Failure)
      }
    }
    void Promise.all([ask(4, resolver.resolve4(hostname)), ask(6, resolver.resolve6(hostname))]).then(() => isEnough())
    await enough
    delay?.stop()
    return { found: found.toSorted((a, b) => a.family - b.family), failures }
  }

  async function find(hostname: string): Promise<LookupAddress[]> {
    // RFC 6761, section 6.3: never sent to a name server.
    if (/(^|\.)localhost$/i.test(hostname)) return askSystem(hostname)
    const { found, failures } = await askServers(hostname)
    if (found.length > 0) return found
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

const hasOutwardIpv4 = (): boolean =>
  Object.values(networkInterfaces()).some((all) => all?.some((one) => one.family === 'IPv4' && !one.internal))

const askSystem = (hostname: string): Promise<LookupAddress[]> => dns.lookup(hostname, { all: true, order: 'verbatim' })

export const blocked = (hostname: string): Failure =>
  codedError(BLOCKED_ADDRESS, `every address of ${hostname} is blocked`)
