import { promises as dns } from 'node:dns'
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { answerWithin, codedError, type Deadline, NotAnswered, startDeadline } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import type { AddressGuard } from './address-guard.ts'
import { candidatesOf, parseHosts, parseSearchRules, watchedFile } from './name-files.ts'

/** The code of a failure: no name server can be reached. An endpoint's refusal has that of the system. */
export const NO_NAME_SERVER = 'ERR_NO_NAME_SERVER'

/** The addresses of a host name, those of IPv4 first. They are not vetted. Rejects if there is none. */
export type Lookup = (hostname: string) => Promise<readonly string[]>

export interface LookupOptions {
  /** An allowed IPv4 address ends the wait for IPv6. */
  readonly guard: Pick<AddressGuard, 'allows'>
  /** Timeout of one DNS query, in ms. Each query is sent twice. A look-up with all of its queries may take three times as long. */
  readonly timeoutMs: number
  /** `address:port` of the name servers. Default: the system's. */
  readonly servers?: readonly string[]
  /** The files of the system's resolver. */
  readonly files?: { readonly hosts: string; readonly resolvConf: string }
  /** How long a failed look-up is remembered at least, in ms. Shorter than the first wait of a schedule. */
  readonly forgetFailureMs?: number
  /** Default: whether an interface other than the loopback has an IPv4 address. */
  readonly hasIpv4?: boolean
}

const FILES = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' }
/** RFC 8305, section 3: how long IPv6 addresses are waited for. Some name servers drop the query for them. */
const RESOLUTION_DELAY_MS = 50
const FORGET_FAILURE_MS = 5_000
/** A bound, because tenants can name any number of dead hosts. */
const MAX_ASKED = 1_000
/** A look-up may take this many times the timeout of a query: within the deadline of the caller, which is four times as long. */
const MAX_TIMEOUTS = 3

/**
 * Looks up host names by the rules of the system's own resolver: the hosts file decides, then the name servers, with the
 * search list and `ndots` of resolv.conf. The system itself (getaddrinfo) is not asked: it blocks one of two threads of the
 * process while a name server is silent, so a few dead names would block every other look-up, that of Redis included.
 * Instead:
 * - Name servers are queried through c-ares, which takes no thread.
 * - Concurrent look-ups of one name share their queries, so that there are never more than connections to be made. A
 *   failed one is not repeated for some seconds, or for as long as it took: a silent name has a query half of the time.
 * - Only the answer that a name does not exist, or has no address, leads to the next name of the search list. After a
 *   failure, the next one may be another host: the public `web.dev` in place of a Service of Kubernetes.
 * - A name server that is silent, or answers that it cannot help, leads to the next one, with the same name.
 */
export function createLookup(options: LookupOptions): Lookup {
  const { guard, timeoutMs, servers, files = FILES } = options
  const { forgetFailureMs = FORGET_FAILURE_MS, hasIpv4 = hasOutwardIpv4() } = options
  const hosts = watchedFile(files.hosts, parseHosts)
  // A new resolver reads the name servers again.
  const rules = watchedFile(files.resolvConf, (text) => ({ ...parseSearchRules(text), resolvers: newResolvers() }))
  /** The look-ups in progress, and for a while those that failed. */
  const asked = new LRUCache<string, Promise<readonly string[]>>({ max: MAX_ASKED })

  function newResolver(asking: readonly string[] | undefined): dns.Resolver {
    const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 })
    if (asking !== undefined) resolver.setServers(asking)
    return resolver
  }

  /**
   * The first asks all name servers, the second all but the first one, and so on. Then each asks one server: c-ares, which orders
   * the servers by their timeouts (or by `rotate`), may not have begun with the first one.
   */
  function newResolvers(): dns.Resolver[] {
    const all = newResolver(servers)
    const listed = all.getServers()
    const others = listed.slice(1)
    const single = listed.slice(0, -1)
    return [
      all,
      ...others.map((_, at) => newResolver(others.slice(at))),
      ...single.map((server) => newResolver([server])),
    ]
  }

  /**
   * Asks for both families. Once IPv4 has an allowed address, IPv6 is waited for only a moment; this host may have no IPv6.
   * A host without IPv4 waits for both answers. Resolves to no address if the name has none, or does not exist.
   */
  async function askServers(name: string, resolvers: readonly dns.Resolver[]): Promise<string[]> {
    const found: string[] = []
    let failed: Failure | undefined
    const { promise: enough, resolve: isEnough } = Promise.withResolvers<void>()
    let delay: Deadline | undefined
    async function ask(type: 'A' | 'AAAA'): Promise<void> {
      try {
        const addresses = await answerOf(resolvers, (each) => each.resolve(name, type))
        found.push(...addresses)
        if (type === 'A' && hasIpv4 && addresses.some(guard.allows))
          delay = startDeadline(RESOLUTION_DELAY_MS, isEnough)
      } catch (error) {
        const failure = error as Failure
        if (!ABSENT.has(failure.code)) failed ??= failure
        // RFC 8020: it has no address of the other family either. Some servers say so of IPv6 alone, wrongly (RFC 4074).
        else if (type === 'A' && failure.code === 'ENOTFOUND') isEnough()
      }
    }
    void Promise.all([ask('A'), ask('AAAA')]).then(() => isEnough())
    await enough
    delay?.stop()
    if (found.length === 0 && failed !== undefined) throw failed
    return found.toSorted((a, b) => Number(isIPv6(a)) - Number(isIPv6(b)))
  }

  async function find(hostname: string): Promise<readonly string[]> {
    const { resolvers, ...search } = rules()
    for (const name of candidatesOf(hostname, search)) {
      const found = await askServers(name, resolvers)
      if (found.length > 0) return found
    }
    throw codedError('ENOTFOUND', `${hostname} has no address`)
  }

  async function askOnce(hostname: string): Promise<readonly string[]> {
    const startedAtMs = performance.now()
    const finding = answerWithin(MAX_TIMEOUTS * timeoutMs, find(hostname), 'the name servers take too long')
    const asking: Promise<readonly string[]> = finding.catch((error: unknown) => {
      asked.set(hostname, asking, { ttl: Math.max(forgetFailureMs, performance.now() - startedAtMs) })
      throw failureOf(hostname, error)
    })
    asked.set(hostname, asking)
    const addresses = await asking
    asked.delete(hostname)
    return addresses
  }

  return async (hostname) => {
    const own = hosts().get(hostname.toLowerCase()) ?? (LOCALHOST.test(hostname) ? ['127.0.0.1', '::1'] : undefined)
    return own ?? asked.get(hostname) ?? askOnce(hostname)
  }
}

type Failure = NodeJS.ErrnoException

/** What a name server answers that cannot help: the system's own resolver then asks the next one, too. */
const CANNOT_HELP: ReadonlySet<string | undefined> = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP'])

/** A resolver asks its next name server only if one is silent: Node has c-ares take each answer, also that of an ill server. */
async function answerOf(
  resolvers: readonly dns.Resolver[],
  ask: (resolver: dns.Resolver) => Promise<string[]>,
): Promise<string[]> {
  let failure: unknown
  for (const resolver of resolvers) {
    try {
      return await ask(resolver)
    } catch (error) {
      if (!CANNOT_HELP.has((error as Failure).code)) throw error
      failure = error
    }
  }
  throw failure
}

function failureOf(hostname: string, error: unknown): Failure {
  if (error instanceof NotAnswered) return codedError('ETIMEOUT', `${hostname}: ${error.message}`)
  if ((error as Failure).code === 'ECONNREFUSED')
    return codedError(NO_NAME_SERVER, `${hostname}: no name server can be reached`, error)
  return error as Failure
}

/** The name does not exist, has no address of the family, or can be no name, such as one below the search domain `#`. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

/** RFC 6761, section 6.3: always this machine, and never sent to a name server. */
const LOCALHOST = /(^|\.)localhost\.?$/i

const hasOutwardIpv4 = (): boolean =>
  Object.values(networkInterfaces()).some((all) => all?.some((one) => one.family === 'IPv4' && !one.internal))
