import { connect, isIP, isIPv6, type Socket } from 'node:net'
import type { AddressGuard, Lookup } from '@switchhook/egress'
import { codedError, type Deadline, startDeadline } from '@switchhook/runtime'
import { BLOCKED_ADDRESS, explainedError, isOurShortage } from '../policy/classify.ts'

/** A way to connect to addresses: directly, or through a proxy. */
export interface Way {
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
  /** Looks up host names. Not called for an address. */
  readonly lookup: Lookup
  /** Vets every address before it is connected to, also one that the url contains. */
  readonly guard: Pick<AddressGuard, 'allows'>
  /** Time limit of all addresses together, name look-up included. */
  readonly timeoutMs: number
  /** Default: directly. */
  readonly way?: Way | undefined
}

/** A connection that is being made. */
export interface Connecting {
  /** What it waits for. */
  state: () => string
}

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

/**
 * Connects to the first allowed address of the host that accepts, over `way`. `hostname`: a name, or an address without
 * brackets.
 */
export function createDial({ lookup, guard, timeoutMs, way = DIRECTLY }: DialOptions) {
  return async (hostname: string, port: number, connecting: Connecting): Promise<Socket> => {
    const deadline = startDeadline(timeoutMs)
    try {
      const found = isIP(hostname) === 0 ? await lookup(hostname) : [hostname]
      const allowed = found.filter((address) => guard.allows(address))
      if (allowed.length === 0) throw codedError(BLOCKED_ADDRESS, `every address of ${hostname} is blocked`)
      return await firstToAccept(way, allowed, port, deadline, connecting)
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
 */
function firstToAccept(
  way: Way,
  found: readonly string[],
  port: number,
  deadline: Deadline,
  connecting: Connecting,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const untried = interlaced(found)
    /** What ends each connection that is being made, by the address. */
    const open = new Map<ReturnType<Way['open']>, string>()
    const failures: Error[] = []
    let delay: Deadline | undefined
    let isOver = false

    const state = (): string =>
      [...[...open.values()].map((address) => `${address}: ${way.unanswered}`), ...failures.map(textOf)].join(', ')

    function end(isLate: boolean): void {
      isOver = true
      delay?.stop()
      for (const cancel of open.keys()) cancel(isLate)
    }

    function tryNext(): void {
      delay?.stop()
      const address = open.size < MAX_AT_A_TIME ? untried.shift() : undefined
      if (address === undefined) return
      const text = addressText(address, port)
      const cancel = way.open(address, port, (error, socket) => {
        open.delete(cancel)
        if (isOver) socket?.destroy()
        else if (error !== null) failed(text, error)
        else if (socket !== undefined) {
          end(false)
          resolve(socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS))
        }
      })
      open.set(cancel, text)
      delay = startDeadline(NEXT_ADDRESS_MS, tryNext)
    }

    function failed(text: string, error: NodeJS.ErrnoException): void {
      failures.push(explainedError(error.code ?? '', `${text}: ${way.explain(error)}`, error))
      if (way.isFinal(error)) return fail(error)
      tryNext()
      if (open.size === 0) fail(failureOf(failures))
    }

    function fail(error: Error, isLate = false): void {
      end(isLate)
      reject(error)
    }

    const giveUp = (): void => fail(explainedError('UND_ERR_CONNECT_TIMEOUT', state()), true)
    connecting.state = state
    if (deadline.hasPassed) return giveUp()
    deadline.whenPassed(giveUp)
    tryNext()
  })
}

const textOf = ({ message }: Error): string => message

/** Undici's value for the sockets that it opens. */
const KEEP_ALIVE_MS = 60_000

/** RFC 8305, section 4: the families alternate. */
function interlaced(addresses: readonly string[]): string[] {
  const [first, second] = [addresses.filter((one) => !isIPv6(one)), addresses.filter(isIPv6)]
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
