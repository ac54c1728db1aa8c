import { SwitchhookError } from '@switchhook/client'
import type { FilterPreview, SubscriptionFilter } from '../api/model.ts'
import { capital, count, counted } from './words.ts'

export type Faults = ReadonlyMap<string, readonly string[]>

/** A fault in the field `headers` that the console finds before it asks the API. */
export class HeadersFault extends Error {}

/** Refusals that name no field. */
const FIELD_OF_CODE: Readonly<Record<string, string>> = { 'external-id-taken': 'externalId' }

/** Empty: the error is not about fields. */
export function faultsIn(error: unknown): Faults {
  if (error instanceof HeadersFault) return new Map([['headers', [error.message]]])
  if (!(error instanceof SwitchhookError)) return new Map()
  const field = FIELD_OF_CODE[error.code]
  if (field !== undefined) return new Map([[field, [error.message]]])
  const faults = new Map<string, string[]>()
  for (const { pointer, detail } of error.problem.errors ?? []) {
    const [name = '', ...inside] = pointer.split('/').slice(1).map(unescaped)
    const text = inside.length > 0 ? `${inside.join('/')} ${detail}` : capital(detail)
    faults.set(name, [...(faults.get(name) ?? []), /[.?]$/.test(text) ? text : `${text}.`])
  }
  return faults
}

/** RFC 6901, section 4. */
const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** Stands for a stored value: the API shows it, and keeps the value if it is sent. */
export const KEPT = '***'

/** The headers of an endpoint as lines of text. */
export const headerLines = (headers: object | null | undefined): string =>
  Object.keys(headers ?? {})
    .map((name) => `${name}: ${KEPT}`)
    .join('\n')

/**
 * A value sets a header, `KEPT` keeps it, and a header of `before` without its line is removed.
 * @param isMoving the url moves to another origin, which must not get a stored value by mistake
 * @throws HeadersFault
 */
export function headersIn(
  text: string,
  before?: object | null,
  isMoving = false,
): Record<string, string | null> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0 && before == null) return null
  const entered = new Map<string, string>()
  for (const line of lines) {
    const [, sent, value = ''] = /^([^:]*):(.*)$/.exec(line) ?? refuse(`"${line.trim()}" has no colon after the name.`)
    const name = sent?.trim().toLowerCase() ?? ''
    if (entered.has(name)) refuse(`${name} has two lines.`)
    if (isMoving && value.trim() === KEPT)
      refuse(`The URL moves to another host: enter the value of ${name} again, or remove its line.`)
    entered.set(name, value.trim())
  }
  const removed = Object.keys(before ?? {}).filter((name) => !entered.has(name))
  return Object.fromEntries([...removed.map((name) => [name, null] as const), ...entered])
}

function refuse(message: string): never {
  throw new HeadersFault(message)
}

/** The fields that differ from when the form was opened. Only these are sent, so another person's changes stay. */
export function changedFields<Fields extends object>(fields: Fields, before: object): Partial<Fields> {
  const stored = new Map(Object.entries(before))
  const changed = Object.entries(fields).filter(([name, value]) => jsonOf(value) !== jsonOf(stored.get(name)))
  return Object.fromEntries(changed) as Partial<Fields>
}

/** A list is a set: its order does not count. */
const jsonOf = (value: unknown): string =>
  Array.isArray(value) ? JSON.stringify(value.map(String).toSorted()) : JSON.stringify(value || null)

/** Null: no filter was entered. The service says what is wrong with a filter that is JSON. */
export function readFilter(text: string): { readonly filter?: SubscriptionFilter | null; readonly fault?: string } {
  if (text.trim() === '') return { filter: null }
  try {
    return { filter: JSON.parse(text) as SubscriptionFilter | null }
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : ''}` }
  }
}

export const filterText = (filter: SubscriptionFilter | null | undefined): string =>
  filter == null ? '' : JSON.stringify(filter, null, 2)

export function previewSentence({ looked, matched }: FilterPreview): string {
  if (looked === 0) return 'The journal has no event of these types yet.'
  return `${count(matched)} of the latest ${counted(looked, 'event')} would be delivered.`
}
