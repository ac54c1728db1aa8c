import { isGuid } from '../ids.ts'

/** The ids in an event's data by which a user can find the event. */
export interface EventSubject {
  readonly callId: string | null
  readonly agentUri: string | null
  readonly correlationId: string | null
  /** Phone number of the other party, as digits with or without a leading `+`. */
  readonly number?: string | null
}

/** Longer values are not indexed. */
export const MAX_SUBJECT_LENGTH = 256

/** Reads the subject. Data comes from any platform, so values that are not strings or are too long are left out. */
export function subjectOf(data: Readonly<Record<string, unknown>>): EventSubject {
  const callId = textOf(data['callId'])
  return {
    callId: callId === null ? null : canonicalCallId(callId),
    agentUri: textOf(data['agentUri']),
    correlationId: textOf(data['correlationId']),
    number: numberOf(data['remoteParty']),
  }
}

/**
 * The digits that all spellings of a phone number end with: without separators, `+`, and leading zeros, which are the
 * prefix of an international or a long-distance call.
 */
export const numberEnding = (number: string): string => number.replaceAll(/\D/g, '').replace(/^0+/, '')

function numberOf(party: unknown): string | null {
  const number = textOf(typeof party === 'object' && party !== null ? (party as { number?: unknown }).number : null)
  return number === null || !/^[+\d]/.test(number) ? null : number.replaceAll(/[^\d+]/g, '')
}

/** GUIDs in lower case; other ids unchanged. */
export const canonicalCallId = (callId: string): string => (isGuid(callId) ? callId.toLowerCase() : callId)

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_SUBJECT_LENGTH ? value : null
