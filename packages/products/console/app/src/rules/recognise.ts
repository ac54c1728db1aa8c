/** What a person pasted into the search box. */
export interface Sought {
  /** `id`: of an event, delivery, call, endpoint or recovery; otherwise the parameter of the API. */
  readonly kind: 'id' | 'agentUri' | 'number' | 'correlationId'
  readonly value: string
}

const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i

/** Recognises the kind of a search text. An id is found inside a longer text, such as a URL or a log line. */
export function recognise(text: string): Sought | null {
  const trimmed = text.trim()
  if (trimmed === '') return null
  const guid = GUID.exec(trimmed)?.[0]
  if (guid !== undefined) return { kind: 'id', value: guid.toLowerCase() }
  if (/^(sips?|tel):/i.test(trimmed)) return { kind: 'agentUri', value: trimmed }
  if (/^[^\s@]+@[^\s@]+$/.test(trimmed)) return { kind: 'agentUri', value: `sip:${trimmed}` }
  // A phone number: digits with the usual separators, at least four digits.
  if (/^\+?[\d\s().\-/]+$/.test(trimmed) && trimmed.replaceAll(/\D/g, '').length >= 4)
    return { kind: 'number', value: trimmed.replaceAll(/[^\d+]/g, '') }
  return { kind: 'correlationId', value: trimmed }
}
