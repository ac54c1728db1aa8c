import { type AddressGuard, createAddressGuard } from '@switchhook/egress'
import type { ApiConfig } from '../../config.ts'

export const MAX_URL_LENGTH = 2048

/** 0 is none. At 25 a mail server takes each line of a POST for a command. */
const NO_WEBHOOK_PORTS: ReadonlySet<string> = new Set(['0', '25', '465', '587'])

/** The url rules of an installation, besides the syntax. */
export interface WebhookUrlRules {
  readonly requireHttps: boolean
  readonly guard: Pick<AddressGuard, 'allowsHost'>
}

/** In production, https is required by default. */
export const urlRulesOf = (
  config: Pick<ApiConfig, 'WEBHOOK_REQUIRE_HTTPS' | 'WEBHOOK_ALLOWED_NETWORKS' | 'NODE_ENV'>,
): WebhookUrlRules => ({
  guard: createAddressGuard(config.WEBHOOK_ALLOWED_NETWORKS),
  requireHttps: config.WEBHOOK_REQUIRE_HTTPS ?? config.NODE_ENV === 'production',
})

/**
 * Why a url cannot be used for webhooks; undefined if it can. It is stored and shown as written, so a url that is not
 * requested as written is rejected; a fragment because it would never be sent, credentials because urls are shown and
 * logged.
 */
export function webhookUrlFault(url: string, rules: WebhookUrlRules): string | undefined {
  if (url.length > MAX_URL_LENGTH) return `must not be longer than ${MAX_URL_LENGTH} characters`
  if (!/^https?:\/\/[^/\\]/i.test(url) || !URL.canParse(url)) return 'must be an absolute http or https url'
  if (/[\p{Cc}\p{Cs}\p{Z}\\]/u.test(url)) {
    return 'must not contain whitespace, control characters or backslashes'
  }
  const { protocol, hostname, port, origin, pathname, search } = new URL(url)
  if (NO_WEBHOOK_PORTS.has(port)) return `must not have the port ${port}`
  const [, , authority = ''] = url.split(/[/?#]/, 3)
  if (authority.includes('@')) return 'must not contain credentials'
  if (url.includes('#')) return 'must not have a fragment'
  if (rules.requireHttps && protocol !== 'https:') return 'must be an https url'
  // A host name is checked at each attempt, because its addresses can change.
  if (!rules.guard.allowsHost(hostname)) return 'must not be an address in a private, local or reserved network'
  const sent = `${origin}${pathname}${search}`
  return sent === withPlainOrigin(url, authority) ? undefined : `would be sent as ${sent}; use the url in this form`
}

/** The url with the host in lower case, without the default port and with a path: differences that no server sees. */
function withPlainOrigin(url: string, authority: string): string {
  const start = url.slice(0, url.indexOf('//') + 2).toLowerCase()
  const rest = url.slice(start.length + authority.length)
  const host = authority.toLowerCase().replace(start === 'https://' ? /:443$/ : /:80$/, '')
  return `${start}${host}${rest.startsWith('/') ? '' : '/'}${rest}`
}
