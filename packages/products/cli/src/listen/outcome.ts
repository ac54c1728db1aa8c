import type { Schemas } from '@switchhook/client'
import { withoutControls } from '../output/table.ts'

/** Characters of an answer. The delivery has the rest. */
const MAX_SHOWN = 100

/** The outcome to report, as a delivery worker would see it. */
export type ForwardOutcome = Omit<Schemas['ReportedOutcome'], 'deliveryId' | 'leaseToken'>

/** The first that matches. Nothing listens at a refused port, so no attempt is counted. */
const BY_CODE: readonly (readonly [RegExp, Pick<ForwardOutcome, 'error' | 'release'>])[] = [
  [/^ECONNREFUSED$/, { release: true }],
  [/TIMEDOUT$|TIMEOUT|^TimeoutError$/, { error: 'timeout' }],
  [/^(ENOTFOUND|EAI_)/, { error: 'dns' }],
  [/CERT|SSL|TLS|^EPROTO$/, { error: 'tls' }],
  [/^HPE_/, { error: 'malformed' }],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, { error: 'reset' }],
  [/^/, { error: 'network' }],
]

/** A success is reported without its answer. */
export const answered = (status: number, durationMs: number, answer: string): ForwardOutcome => ({
  status,
  durationMs,
  ...(answer && status >= 300 && { answer }),
})

/** A refused connection gives the delivery back. @param code of Node or undici, as in `error.cause.code` */
export function failed(code: string, durationMs: number): ForwardOutcome {
  const [, found = {}] = BY_CODE.find(([pattern]) => pattern.test(code)) ?? []
  return found.release ? found : { ...found, durationMs }
}

/** `204`, `401 (No secret fits the signature.)`, `timeout`, or `refused`. */
export const outcomeText = ({ status, error, release, answer }: ForwardOutcome): string =>
  String(status ?? error ?? (release ? 'refused' : '')) +
  (answer ? ` (${withoutControls(answer).slice(0, MAX_SHOWN)})` : '')
