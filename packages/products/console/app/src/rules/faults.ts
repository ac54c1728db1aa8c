import { SwitchhookError } from '@switchhook/client'
import { capital } from './words.ts'

/** What is wrong with the fields of a form, by their names. */
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
