import { promises as dns, type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import type { AddressGuard } from '@switchhook/egress'

/** None of a name's addresses may be connected to. */
export const BLOCKED_ADDRESS = 'ERR_BLOCKED_ADDRESS'

export interface LookupOptions {
  /** Of several addresses, those that it refuses are left out: what is connected to has been vetted, and is not asked for again. */
  readonly guard: Pick<AddressGuard, 'allows'>
  /** How long one question waits for its answer; it is asked twice. */
  readonly timeoutMs: number
  /** `address:port` of the name servers; the system's if absent. */
  readonly servers?: readonly string[]
  /** How long a name that could not be found is not asked for again: less than the first wait of a schedule. */
  readonly forgetFailureMs?: number
}

const FORGET_FAILURE_MS = 5_000
/** Anybody may subscribe under as many dead names as they like. */
const MOST_FAILURES = 1_000

/**
 * Finds the addresses of a host name without letting one dead name delay the others. The system's own look-up blocks one
 * of a handful of threads for as long as a name server stays silent, and then every name waits; so name servers are asked
 * directly (c-ares), the same name is asked for once at a time, and a dead one is not asked for again for some seconds. What they do not know may stand in the hosts file or
 * below a search domain: for that the system is asked, whose answer is then quick.
 */
export function createLookup({
  guard,
  timeoutMs,
  servers,
  forgetFailureMs = FORGET_FAILURE_MS,
}: LookupOptions): LookupFunction {
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const underWay = new Map<string, Promise<LookupAddress[]>>()
  const failures = new Map<string, { readonly error: Failure; readonly untilMs: number }>()

  async function find(hostname: string): Promise<LookupAddress[]> {
    // RFC 6761, section 6.3: never a question for a name server.
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

  async function findOrFail(hostname: string): Promise<LookupAddress[]> {
    const failure = failures.get(hostname)
    if (failure !== undefined && failure.untilMs > performance.now()) throw failure.error
    failures.delete(hostname)
    try {
      return await find(hostname)
    } catch (error) {
      const [oldest] = failures.keys()
      if (failures.size >= MOST_FAILURES && oldest !== undefined) failures.delete(oldest)
      failures.set(hostname, { error: error as Failure, untilMs: performance.now() + forgetFailureMs })
      throw error
    }
  }

  function findOnce(hostname: string): Promise<LookupAddress[]> {
    const present = underWay.get(hostname)
    if (present !== undefined) return present
    const finding = findOrFail(hostname).finally(() => underWay.delete(hostname))
    underWay.set(hostname, finding)
    return finding
  }

  // Not from within a promise: what a callback throws must not become a rejection that nobody sees.
  const findThenCall = callbackify(findOnce)

  return (hostname, options, callback) => {
    findThenCall(hostname, (error, addresses) => {
      if (error !== null) return callback(error, '')
      const vetted = addresses.filter(({ address }) => guard.allows(address))
      if (vetted.length === 0 && addresses.length > 0) return callback(blocked(hostname), '')
      const fitting = vetted.filter(({ family }) => !options.family || options.family === family)
      const [first] = fitting
      if (first === undefined) return callback(noAddress(hostname), '')
      return options.all === true ? callback(null, fitting) : callback(null, first.address, first.family)
    })
  }
}

type Failure = NodeJS.ErrnoException

const askSystem = (hostname: string): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
      if (error === null) resolve(addresses)
      else reject(error)
    })
  })

const blocked = (hostname: string): Failure =>
  Object.assign(new Error(`no address of ${hostname} may be connected to`), { code: BLOCKED_ADDRESS })

const noAddress = (hostname: string): Failure =>
  Object.assign(new Error(`no address of the wanted family for ${hostname}`), { code: 'ENOTFOUND' })
