/** What a person may paste into the search box. */
export type Sought =
  | { readonly kind: 'nothing' }
  /** Any id: of an event, delivery, call, endpoint or recovery. */
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'agent'; readonly agentUri: string }
  | { readonly kind: 'number'; readonly number: string }
  | { readonly kind: 'correlation'; readonly correlationId: string }

const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i

/** Recognises the kind of a search text. An id is found inside a longer text, such as a URL or a log line. */
export function recognise(text: string): Sought {
  const trimmed = text.trim()
  if (trimmed === '') return { kind: 'nothing' }
  const guid = GUID.exec(trimmed)?.[0]
  if (guid !== undefined) return { kind: 'id', id: guid.toLowerCase() }
  if (/^(sips?|tel):/i.test(trimmed)) return { kind: 'agent', agentUri: trimmed }
  if (/^[^\s@]+@[^\s@]+$/.test(trimmed)) return { kind: 'agent', agentUri: `sip:${trimmed}` }
  // A phone number: digits with the usual separators, at least four digits.
  if (/^\+?[\d\s().\-/]+$/.test(trimmed) && trimmed.replaceAll(/\D/g, '').length >= 4)
    return { kind: 'number', number: trimmed.replaceAll(/[^\d+]/g, '') }
  return { kind: 'correlation', correlationId: trimmed }
}
