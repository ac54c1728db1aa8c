import { AppError, compileSchema, type Fault } from '@switchhook/contracts'
import type { Schema } from './route.ts'

/** Reads what follows the `?`. @throws AppError `invalid-request` with every fault */
export type ReadQuery = (search: string) => Record<string, unknown>

/**
 * A reader for the parameters of one route. All of them are optional; one that is given twice is a fault, as nobody can
 * know which was meant. Others are ignored.
 */
export function createReadQuery(parameters: Readonly<Record<string, Schema>>): ReadQuery {
  const check = compileSchema<Record<string, unknown>>({ type: 'object', properties: parameters })
  return (search) => {
    const given = new URLSearchParams(search)
    const faults: Fault[] = []
    const query: Record<string, unknown> = {}
    for (const [name, schema] of Object.entries(parameters)) {
      const values = given.getAll(name)
      if (values.length > 1) faults.push({ pointer: `/${name}`, detail: 'is given more than once' })
      query[name] = values[0] === undefined ? schema['default'] : toValue(values[0], schema)
      if (query[name] === undefined) delete query[name]
    }
    const result = check(query)
    if (!result.ok) faults.push(...result.faults)
    if (faults.length > 0) throw new AppError('invalid-request', { detail: 'The query is not valid', errors: faults })
    return query
  }
}

/** A text that is not of the schema's type stays a text, for the schema to refuse. */
function toValue(text: string, schema: Schema): unknown {
  if (schema['type'] === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (schema['type'] === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
