import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { AppError } from '@switchhook/contracts'

/** The part of a request that tells which page a browser sent it from. */
export interface SiteRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/**
 * Protects requests that are let in by their address alone. A browser in a trusted network has such an address too, and
 * sends requests for any page that is open in it. Programs send no `Origin` and no `Sec-Fetch-Site`.
 *
 * - The host must be known. With DNS rebinding a page of another site reaches this service under the name of its own site,
 *   and to the browser both are one origin. The name stays in `Host`. An IP address and `localhost` cannot be rebound.
 * - A page of another site must not send the request. A simple POST (Fetch standard, CORS-safelisted) needs no preflight.
 *
 * A proxy's `X-Forwarded-Host` can only add hosts to check, so a forged one opens nothing.
 * @returns a check that throws AppError `host-not-allowed` or `cross-site-request`
 */
export function createOwnSiteCheck(allowedHosts: readonly string[]): (request: SiteRequest) => void {
  const known = new Set(['localhost', ...allowedHosts.map(normalized)])
  return ({ method, headers }) => {
    const hosts = [...valuesOf(headers.host ?? ''), ...valuesOf(headers['x-forwarded-host'])]
    const foreign = hosts.find((host) => !isAllowed(host, known))
    if (foreign !== undefined) {
      throw new AppError('host-not-allowed', {
        detail: `Requests without a token are not served under the host ${JSON.stringify(foreign)}. Use a token, or add the host to ALLOWED_HOSTS.`,
      })
    }
    if (isFromAnotherSite(method, headers, hosts)) throw new AppError('cross-site-request')
  }
}

function isFromAnotherSite(method: string, headers: SiteRequest['headers'], hosts: readonly string[]): boolean {
  const [site] = valuesOf(headers['sec-fetch-site'])
  const changes = method !== 'GET' && method !== 'HEAD'
  if (site === 'cross-site' || (site === 'same-site' && changes)) return true
  // Browsers send no Sec-Fetch-Site over plain http. `Origin: null` is of no site.
  const [origin] = valuesOf(headers.origin)
  return (
    origin !== undefined && !hosts.some((host) => normalized(host) === normalized(origin.replace(/^https?:\/\//, '')))
  )
}

function isAllowed(host: string, known: ReadonlySet<string>): boolean {
  const [, address, name = ''] = /^(?:\[([\da-f:.]+)\]|([^\s:[\]]+))(?::\d{1,5})?$/i.exec(host) ?? []
  return isIP(address ?? name) !== 0 || known.has(normalized(name))
}

/** Names are case-insensitive, and may end with the dot of the root (RFC 4343; RFC 1034, section 3.1). */
const normalized = (host: string): string => host.toLowerCase().replace(/\.(?=:|$)/, '')

const valuesOf = (header: string | readonly string[] | undefined): readonly string[] =>
  header === undefined ? [] : [header].flat().flatMap((value) => value.split(',').map((part) => part.trim()))
