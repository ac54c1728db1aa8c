import { isIP } from 'node:net'
import type { Logger } from '@switchhook/runtime'
import type { RequestHandler } from 'express'

/** `10.1.1.1:51234` and `[fd00::7]:51234`, as Azure Application Gateway and IIS send them, and `[fd00::7]`. */
const WITH_PORT = /^(?:([\d.]{7,15})|\[([\da-f:.]{2,45})\])(?::\d{1,5})?$/i

/** The address in one part of `X-Forwarded-For`, without a port; undefined: it is no address. */
export function addressIn(part: string): string | undefined {
  const text = part.trim()
  if (isIP(text) !== 0) return text
  const [, v4, v6] = WITH_PORT.exec(text) ?? []
  const address = v4 ?? v6 ?? ''
  return isIP(address) === 0 ? undefined : address
}

/** The header of a long chain of proxies; the rest is ignored. */
const MAX_PARTS = 32

/**
 * Leaves only addresses in `X-Forwarded-For`, because Express takes an address with a port for no address: then a trusted
 * network is not recognised, and all clients share one limit. The first part that is no address is logged.
 * @param isProxy whether the header of this sender counts
 */
export function readForwardedAddresses(
  isProxy: (address: string | undefined) => boolean,
  log: Pick<Logger, 'warn'>,
): RequestHandler {
  let isLogged = false
  return ({ headers, socket }, _response, next) => {
    const header = headers['x-forwarded-for']
    if (header === undefined || !isProxy(socket.remoteAddress)) return next()
    const parts = [header].flat().join(',').split(',').slice(-MAX_PARTS)
    const addresses = parts.map((part) => addressIn(part))
    if (addresses.includes(undefined) && !isLogged) {
      isLogged = true
      log.warn('a trusted proxy sends an X-Forwarded-For that is no list of addresses', {
        header: String(header).slice(0, 200),
        proxy: socket.remoteAddress,
      })
    }
    headers['x-forwarded-for'] = parts.map((part, at) => addresses[at] ?? part).join(', ')
    next()
  }
}
