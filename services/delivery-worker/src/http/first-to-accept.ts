import { isIPv6, type Socket } from 'node:net'
import { type Deadline, startDeadline } from '@switchhook/runtime'
import { explainedError } from '../policy/classify.ts'

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
export function firstToAccept(
  way: Way,
  found: readonly string[],
  port: number,
  deadline: Deadline,
  connecting: (state: () => string) => void = () => {},
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const addresses = inTurn(found)
    /** What ends each connection that is being made, by the address. */
    const open = new Map<ReturnType<Way['open']>, string>()
    const failures: Error[] = []
    const state = (): string =>
      [...[...open.values()].map((address) => `${address}: ${way.unanswered}`), ...failures.map(textOf)].join(', ')
    let next = 0
    let delay: Deadline | undefined
    let isOver = false

    function end(settle: () => void, isLate = false): void {
      isOver = true
      delay?.stop()
      for (const cancel of open.keys()) cancel(isLate)
      settle()
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

/** RFC 8305, section 4: the families take turns. */
function inTurn(addresses: readonly string[]): readonly string[] {
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
