import { isGuid } from '../ids.ts'

/** The ids in an event's data by which a user can find the event. */
export interface EventSubject {
  readonly callId: string | null
  readonly agentUri: string | null
  readonly correlationId: string | null
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
  }
}

/** GUIDs in lower case; other ids unchanged. */
export const canonicalCallId = (callId: string): string => (isGuid(callId) ? callId.toLowerCase() : callId)

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_SUBJECT_LENGTH ? value : null
