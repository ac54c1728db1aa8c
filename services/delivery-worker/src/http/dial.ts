import { connect, isIP, isIPv6, type LookupFunction, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { type Deadline, startDeadline } from '@switchhook/runtime'
import { explainedError, isOurShortage } from '../policy/classify.ts'

export interface DialOptions {
  /** Looks up host names, and vets what it finds. Not called for an address. */
  readonly lookup: LookupFunction
  /** Time limit of all addresses together, name look-up included. */
  readonly timeoutMs: number
}

/**
 * Connects to a vetted address of the target. `hostname`: a name, or an address without brackets.
 * @param connecting called when the addresses are known, with a function that tells the state of each that was tried
 */
export type OpenSocket = (
  target: { readonly hostname: string; readonly port: number },
  connecting?: (state: () => string) => void,
) => Promise<Socket>

/** RFC 8305, section 5: "Connection Attempt Delay". */
const NEXT_ADDRESS_MS = 250
/** A bound on sockets: a name may have hundreds of addresses. The next one is tried once one of these has failed. */
const MAX_AT_A_TIME = 6

export const addressText = (address: string, port: number): string =>
  isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`

/**
 * Connects to the first address of a name that accepts (RFC 8305). While one does not answer, the next ones are tried too,
 * and none is given up before the limit. Node's own selection (`autoSelectFamily`) ends an attempt after 250 ms, so a host
 * far away, or a lost SYN, fails if the last address cannot be reached (nodejs/node#54359).
 */
export function createDial({ lookup, timeoutMs }: DialOptions): OpenSocket {
  const find = promisify(lookup)
  return async ({ hostname, port }, connecting) => {
    const deadline = startDeadline(timeoutMs)
    try {
      const found = isIP(hostname) === 0 ? await find(hostname, { all: true }) : hostname
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address)
      return await firstToAccept(inTurn(addresses), port, deadline, connecting)
    } finally {
      deadline.stop()
    }
  }
}

/** RFC 8305, section 4: the families take turns. */
function inTurn(addresses: readonly string[]): readonly string[] {
  const [first, second] = [addresses.filter((one) => !isIPv6(one)), addresses.filter(isIPv6)]
  if (first.length === 0 || second.length === 0) return addresses
  const longer = Math.max(first.length, second.length)
  return Array.from({ length: longer }, (_, n) => [first[n], second[n]])
    .flat()
    .filter((one) => one !== undefined)
}

function firstToAccept(
  addresses: readonly string[],
  port: number,
  deadline: Deadline,
  connecting: (state: () => string) => void = () => {},
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const open = new Map<Socket, string>()
    const failures: Error[] = []
    const state = (): string =>
      [...[...open.values()].map((address) => `${address}: no answer`), ...failures.map(textOf)].join(', ')
    let next = 0
    let delay: Deadline | undefined
    let isOver = false

    function end(settle: () => void): void {
      isOver = true
      delay?.stop()
      for (const socket of open.keys()) socket.destroy()
      settle()
    }

    function tryNext(): void {
      delay?.stop()
      const address = addresses[next]
      if (isOver || address === undefined || open.size >= MAX_AT_A_TIME) return
      next += 1
      const text = addressText(address, port)
      const socket = connect({ host: address, port })
      open.set(socket, text)
      socket.once('connect', () => {
        open.delete(socket)
        if (isOver) socket.destroy()
        else end(() => resolve(socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS)))
      })
      function failed(error: NodeJS.ErrnoException): void {
        open.delete(socket)
        if (isOver) return
        failures.push(explainedError(error.code ?? '', `${text}: ${error.code}`, error))
        if (isOurShortage(error)) return end(() => reject(error))
        tryNext()
        if (open.size === 0) end(() => reject(failureOf(failures)))
      }
      socket.on('error', failed)
      delay = startDeadline(NEXT_ADDRESS_MS, tryNext)
    }

    function giveUp(): void {
      const late = explainedError('UND_ERR_CONNECT_TIMEOUT', state())
      if (!isOver) end(() => reject(late))
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

/** Says least: this host may have no route for a family. */
const NO_ROUTE: ReadonlySet<unknown> = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** Named after the failure that says most, with all of them in its text. */
function failureOf(failures: readonly (Error & { readonly code?: string })[]): Error {
  const telling = failures.find(({ code }) => !NO_ROUTE.has(code)) ?? failures[0]
  return explainedError(telling?.code ?? 'ECONNREFUSED', failures.map(textOf).join(', '))
}
