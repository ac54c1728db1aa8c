import { AppError, compileSchema, type Fault } from '@switchhook/contracts'
import type { Schema } from './schema.ts'

/**
 * Creates the reader of one route's query parameters. A repeated one is ambiguous, so a fault; unknown ones are ignored.
 * @returns a function that throws AppError `invalid-request` with all faults
 */
export function createReadQuery(
  parameters: Readonly<Record<string, Schema>>,
): (search: string) => Record<string, unknown> {
  if (Object.keys(parameters).length === 0) return () => ({})
  const check = compileSchema<Record<string, unknown>>({ type: 'object', properties: parameters })
  return (search) => {
    if (!isPercentEncoded(search)) throw new AppError('invalid-request', { detail: BAD_QUERY })
    const given = new URLSearchParams(search)
    const faults: Fault[] = []
    const query: Record<string, unknown> = {}
    for (const [name, schema] of Object.entries(parameters)) {
      const values = given.getAll(name)
      if (values.length > 1) faults.push({ pointer: `/${name}`, detail: 'was given more than once' })
      query[name] = values[0] === undefined ? schema['default'] : toValue(values[0], schema)
      if (query[name] === undefined) delete query[name]
    }
    const result = check(query)
    if (!result.ok) faults.push(...result.faults)
    if (faults.length > 0) throw new AppError('invalid-request', { detail: 'The query is not valid.', errors: faults })
    return query
  }
}

const BAD_QUERY = 'The query is not valid percent-encoded UTF-8.'

/** `URLSearchParams` would replace what is not, for example half of a surrogate pair. */
function isPercentEncoded(search: string): boolean {
  try {
    decodeURIComponent(search)
    return true
  } catch {
    return false
  }
}

/** Text that does not fit the type of the schema stays text, and the schema rejects it. */
function toValue(text: string, schema: Schema): unknown {
  if (schema['type'] === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (schema['type'] === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return schema['format'] === 'date-time' ? toRfc3339(text) : text
}

/** Reads the forms of generated clients: Python's `strftime` writes `+0000`, Rust's chrono `2026-11-20 17:06:01.1 +00:00`. */
const toRfc3339 = (text: string): string =>
  text
    .replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\S*) ([+-]\d\d:?\d\d)$/, '$1T$2$3')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
