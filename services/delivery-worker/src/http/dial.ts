import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { promisify } from 'node:util'
import type { AddressGuard } from '@switchhook/egress'
import { startDeadline } from '@switchhook/runtime'
import { isOurShortage } from '../policy/classify.ts'
import { firstToAccept, type Way } from './first-to-accept.ts'
import { blocked } from './lookup.ts'

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
