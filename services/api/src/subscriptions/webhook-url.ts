import type { AddressGuard } from '@switchhook/egress'

export const MAX_URL_LENGTH = 2048

/** What an installation asks of webhook urls beyond their form. */
export interface WebhookUrlRules {
  readonly requireHttps: boolean
  readonly guard: Pick<AddressGuard, 'allowsHost'>
}

/**
 * Says what is wrong with a url for webhooks; undefined: nothing. It is judged as it is written, since it is kept and
 * shown as written: what a url parser would silently repair is refused. A fragment is refused because it would never be sent,
 * credentials because a url is shown and logged.
 */
export function webhookUrlFault(url: string, rules: WebhookUrlRules): string | undefined {
  if (url.length > MAX_URL_LENGTH) return `must not be longer than ${MAX_URL_LENGTH} characters`
  if (!/^https?:\/\/[^/\\]/i.test(url) || !URL.canParse(url)) return 'must be an absolute http or https url'
  if (/[\p{Cc}\p{Cs}\p{Z}\\]/u.test(url)) {
    return 'must not contain blanks, control characters or backslashes'
  }
  const { protocol, hostname, username, password } = new URL(url)
  if (username !== '' || password !== '' || authorityOf(url).includes('@')) return 'must not contain credentials'
  if (url.includes('#')) return 'must not have a fragment'
  if (rules.requireHttps && protocol !== 'https:') return 'must be an https url'
  // A name is judged by its addresses at each attempt: today's say nothing of tomorrow's.
  if (!rules.guard.allowsHost(hostname)) return 'must not be an address of a private, local or reserved network'
  return undefined
}

const authorityOf = (url: string): string => url.split(/[/?#]/, 3)[2] ?? ''
