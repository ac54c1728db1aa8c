import type { Schemas } from '@switchhook/client'

export type Forwarded =
  | { readonly status: number; readonly durationMs: number; readonly answer?: string }
  /** `code`: of Node or undici, as in `error.cause.code`. */
  | { readonly code: string; readonly durationMs: number }

type Report = Omit<Schemas['ReportedOutcome'], 'deliveryId' | 'leaseToken'>

/** The first that matches. Nothing listens at a refused port, so no attempt is counted. */
const BY_CODE: readonly (readonly [RegExp, Pick<Report, 'error' | 'release'>])[] = [
  [/^ECONNREFUSED$/, { release: true }],
  [/TIMEDOUT$|TIMEOUT|^TimeoutError$/, { error: 'timeout' }],
  [/^(ENOTFOUND|EAI_)/, { error: 'dns' }],
  [/CERT|SSL|TLS|^EPROTO$/, { error: 'tls' }],
  [/^HPE_/, { error: 'malformed' }],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, { error: 'reset' }],
  [/^/, { error: 'network' }],
]

/** The outcome to report, as a delivery worker would see it. Only a refused connection differs: it gives the delivery back. */
export function outcomeOf(forwarded: Forwarded): Report {
  const durationMs = Math.round(forwarded.durationMs)
  if ('status' in forwarded) {
    const { status, answer } = forwarded
    return { status, durationMs, ...(answer && status >= 300 && { answer }) }
  }
  const [, found = {}] = BY_CODE.find(([pattern]) => pattern.test(forwarded.code)) ?? []
  return found.release ? found : { ...found, durationMs }
}

/** `204`, `timeout`, or `refused`. */
export const outcomeText = ({ status, error, release }: Report): string =>
  String(status ?? error ?? (release ? 'refused' : ''))
