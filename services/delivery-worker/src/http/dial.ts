import { connect, isIP, isIPv6, type LookupFunction, type Socket } from 'node:net'
import { promisify } from 'node:util'
import type { AddressGuard } from '@switchhook/egress'
import { type Deadline, startDeadline } from '@switchhook/runtime'
import { explainedError, isOurShortage } from '../policy/classify.ts'
import { blocked } from './lookup.ts'

/** A way to connect to addresses: directly, or through a proxy. */
interface Way {
  /**
   * Begins to connect to one address, and calls `ended` later, never at once.
   * @returns what ends it: because the deadline has passed, or because another address accepted or failed for all
   */
  readonly open: (
    address: string,
    port: number,
    ended: (error: NodeJS.ErrnoException | null, socket?: Socket) => void,
  ) => (isLate: boolean) => void
  /** Whether no other address is worth a try after this error. */
  readonly isFinal: (error: Error) => boolean
  /** What the attempt says of an address that fails, and of one that does not answer. */
  readonly explain: (error: NodeJS.ErrnoException) => string
  readonly unanswered: string
}

export interface DialOptions {
  /** Looks up host names, and vets what it finds. Not called for an address. */
  readonly lookup: LookupFunction
  /** Time limit of all addresses together, name look-up included. */
  readonly timeoutMs: number
  /** Default: directly. */
  readonly way?: Way
  /** Vets the addresses once more, for a way that ends somewhere else than at the endpoint. */
  readonly guard?: Pick<AddressGuard, 'allows'>
}

/**
 * Connects to a vetted address of the target. `hostname`: a name, or an address without brackets.
 * @param connecting called when the addresses are known, with a function that tells the state of each that was tried
 */
export type OpenSocket = (
  target: { readonly hostname: string; readonly port: number },
  connecting?: (state: () => string) => void,
) => Promise<Socket>

const DIRECTLY: Way = {
  open: (host, port, ended) => {
    const socket = connect({ host, port })
    socket.once('connect', () => ended(null, socket))
    socket.on('error', ended)
    return () => socket.destroy()
  },
  isFinal: isOurShortage,
  explain: ({ code = 'no code' }) => code,
  unanswered: 'no answer',
}

/** Connects to the first address of a name that accepts, over `way`. */
export function createDial({ lookup, timeoutMs, way = DIRECTLY, guard }: DialOptions): OpenSocket {
  const find = promisify(lookup)
  return async ({ hostname, port }, connecting) => {
    const deadline = startDeadline(timeoutMs)
    try {
      const found = isIP(hostname) === 0 ? await find(hostname, { all: true }) : hostname
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address)
      const vetted = addresses.filter((address) => guard?.allows(address) ?? true)
      if (vetted.length === 0) throw blocked(hostname)
      return await firstToAccept(way, vetted, port, deadline, connecting)
    } finally {
      deadline.stop()
    }
  }
}

/** RFC 8305, section 5: "Connection Attempt Delay". */
const NEXT_ADDRESS_MS = 250
/** A bound on sockets: a name may have hundreds of addresses. The next one is tried once one of these has failed. */
const MAX_AT_A_TIME = 6

export const addressText = (address: string, port: number): string =>
  isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`

/**
 * Connects to the first address that accepts (RFC 8305). While one does not answer, the next ones are tried too, and none is
 * given up before the deadline. Node's own selection (`autoSelectFamily`) ends an attempt after 250 ms, so a host far away,
 * or a lost SYN, fails if the last address cannot be reached (nodejs/node#54359).
 * @param connecting called at once, with a function that tells the state of each address that was tried
 */
function firstToAccept(
  way: Way,
  found: readonly string[],
  port: number,
  deadline: Deadline,
  connecting: (state: () => string) => void = () => {},
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const addresses = interlaced(found)
    /** What ends each connection that is being made, by the address. */
    const open = new Map<ReturnType<Way['open']>, string>()
    const failures: Error[] = []
    const state = (): string =>
      [...[...open.values()].map((address) => `${address}: ${way.unanswered}`), ...failures.map(textOf)].join(', ')
    let next = 0
    let delay: Deadline | undefined
    let isOver = false

    function end(finish: () => void, isLate = false): void {
      isOver = true
      delay?.stop()
      for (const cancel of open.keys()) cancel(isLate)
      finish()
    }

    function tryNext(): void {
      delay?.stop()
      const address = addresses[next]
      if (isOver || address === undefined || open.size >= MAX_AT_A_TIME) return
      next += 1
      const text = addressText(address, port)
      const cancel = way.open(address, port, (error, socket) => {
        open.delete(cancel)
        if (socket !== undefined) {
          if (isOver) socket.destroy()
          else end(() => resolve(socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS)))
        } else if (error !== null && !isOver) failed(text, error)
      })
      open.set(cancel, text)
      delay = startDeadline(NEXT_ADDRESS_MS, tryNext)
    }

    function failed(text: string, error: NodeJS.ErrnoException): void {
      failures.push(explainedError(error.code ?? '', `${text}: ${way.explain(error)}`, error))
      if (way.isFinal(error)) return end(() => reject(error))
      tryNext()
      if (open.size === 0) end(() => reject(failureOf(failures)))
    }

    function giveUp(): void {
      const late = explainedError('UND_ERR_CONNECT_TIMEOUT', state())
      if (!isOver) end(() => reject(late), true)
    }
    connecting(state)
    if (deadline.hasPassed) return giveUp()
    deadline.whenPassed(giveUp)
    tryNext()
  })
}

const textOf = ({ message }: Error): string => message

/** Undici's value for the sockets that it opens. */
const KEEP_ALIVE_MS = 60_000

/** RFC 8305, section 4: the families alternate. */
function interlaced(addresses: readonly string[]): readonly string[] {
  const [first, second] = [addresses.filter((one) => !isIPv6(one)), addresses.filter(isIPv6)]
  if (first.length === 0 || second.length === 0) return addresses
  const longer = Math.max(first.length, second.length)
  return Array.from({ length: longer }, (_, n) => [first[n], second[n]])
    .flat()
    .filter((one) => one !== undefined)
}

/** Says least: this host may have no route for a family. */
const NO_ROUTE: ReadonlySet<unknown> = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** Named after the failure that says most, with all of them in its text. */
function failureOf(failures: readonly (Error & { readonly code?: string })[]): Error {
  const telling = failures.find(({ code }) => !NO_ROUTE.has(code)) ?? failures[0]
  return explainedError(telling?.code ?? 'ECONNREFUSED', failures.map(textOf).join(', '))
}
