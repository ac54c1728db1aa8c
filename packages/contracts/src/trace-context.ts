import { randomUUID } from 'node:crypto'
import type { EventId } from './ids.ts'

/** https://www.w3.org/TR/trace-context/#traceparent-header: a later version may go on after the flags. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/

/**
 * The one way in for a `traceparent` from outside, from a request or from a message. Undefined for what is absent or not
 * well formed: tracing is never a reason to refuse anything. What a later version adds is left out.
 */
export function readTraceparent(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 256) return undefined
  const [whole, version, more] = TRACEPARENT.exec(value) ?? []
  if (whole === undefined || (version === '00' && more !== undefined)) return undefined
  return version === '00' ? whole : `00${whole.slice(2, LENGTH)}`
}

const LENGTH = '00-00000000000000000000000000000000-0000000000000000-00'.length

/** What log lines are found by. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/** The context of a trace that begins here. The flag lets whoever does export spans further on export these. */
export const newTraceparent = (traceId: string = randomId() + randomId()): string => `00-${traceId}-${randomId()}-01`

/**
 * The trace of an event that no command is behind: so whoever knows the event knows the trace, and an event that comes
 * twice has one trace. Undefined for the GUID of zeros, which is no trace id.
 */
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
