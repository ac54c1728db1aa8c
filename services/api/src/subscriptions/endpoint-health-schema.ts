import type { UnreachableReason } from '@switchhook/contracts'

/** Whose fault each is, in a few words; a receiver check says more. */
const REASONS: Readonly<Record<UnreachableReason, string>> = {
  timeout: 'no answer in time',
  dns: 'the name was not found',
  refused: 'nothing listens there',
  tls: 'the certificate or the handshake failed',
  reset: 'the connection was closed before an answer',
  network: 'the address cannot be reached',
  malformed: 'the answer was not HTTP',
  blocked: 'the address is private or reserved, and not allowed',
  'unusable-url': 'nothing can be sent to such a url',
}

/** For the documents: what stands in place of an answer. */
export const WHY_NO_ANSWER = `Without an answer: ${Object.entries(REASONS)
  .map(([reason, text]) => `\`${reason}\` (${text})`)
  .join(', ')}.`
