import { isGuid } from '../ids.ts'

/** What an event is about, as its data names it: how people find an event whose id they do not know. */
export interface EventSubject {
  readonly callId: string | null
  readonly agentUri: string | null
  readonly correlationId: string | null
}

/** Longer names are no names that anybody would look for. */
export const MAX_SUBJECT_LENGTH = 256

/** Data comes from any platform: what is no text, or too long, is left out. */
export function subjectOf(data: Readonly<Record<string, unknown>>): EventSubject {
  const callId = textOf(data['callId'])
  return {
    callId: callId === null ? null : canonicalCallId(callId),
    agentUri: textOf(data['agentUri']),
    correlationId: textOf(data['correlationId']),
  }
}

/** GUIDs in lower case, as everywhere; another platform's other ids as they are. */
export const canonicalCallId = (callId: string): string => (isGuid(callId) ? callId.toLowerCase() : callId)

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_SUBJECT_LENGTH ? value : null
