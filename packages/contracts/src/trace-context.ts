import { randomUUID } from 'node:crypto'
import type { EventId } from './ids.ts'

/** https://www.w3.org/TR/trace-context/#traceparent-header: later versions may append fields after the flags. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/

/** Undefined if it is absent or malformed: tracing never causes a rejection. Fields of later versions are dropped. */
export function readTraceparent(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 256) return undefined
  const [whole, version, more] = TRACEPARENT.exec(value) ?? []
  if (whole === undefined || (version === '00' && more !== undefined)) return undefined
  return version === '00' ? whole : `00${whole.slice(2, LENGTH)}`
}

const LENGTH = '00-00000000000000000000000000000000-0000000000000000-00'.length

export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/** The context of a new trace. The sampled flag is set, so that services downstream export its spans. */
export const newTraceparent = (traceId: string = randomId() + randomId()): string => `00-${traceId}-${randomId()}-01`

/** Of an event without a causing command: a repeated event keeps its trace. Undefined: zeros are no trace id. */
export function traceIdOfEvent(eventId: EventId): string | undefined {
  const traceId = eventId.replaceAll('-', '')
  return /^0+$/.test(traceId) ? undefined : traceId
}

/** 16 random hexadecimal digits. Node keeps random bytes ready for `randomUUID`, so it costs a tenth of `randomBytes`. */
function randomId(): string {
  const guid = randomUUID()
  // Every digit of the first and the last group is random; the version and the variant are between them.
  return guid.slice(0, 8) + guid.slice(-8)
}
