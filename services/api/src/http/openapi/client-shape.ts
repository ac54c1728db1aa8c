import { type Schema, shownSchema } from '../schema.ts'
import { constantsOf } from './numbers.ts'

/** What a schema describes. A parameter is shown as the service reads it. */
export type Use = 'answer' | 'request' | 'parameter'

/** A schema in the form that generators of clients read well. Its parts are not converted. */
export function clientShape(schema: Schema, use: Use): Schema {
  const shown = shownSchema(schema)
  if (use === 'answer') return answerShape(shown)
  return use === 'request' ? requestShape(shown) : shown
}

/**
 * New fields and new values may come with any version of the service. Clients in several languages refuse a value that is
 * missing in an `enum`, and a field where `additionalProperties` is absent.
 */
function answerShape(schema: Schema): Schema {
  const { enum: values, 'x-enum-varnames': _, ...rest } = schema
  // An enum of one value tells the members of a union apart.
  const isOpen = Array.isArray(values) && values.length > 1
  const constants = constantsOf(schema)
  return {
    ...(isOpen ? { ...rest, 'x-extensible-enum': values } : schema),
    ...(constants !== undefined && { description: `${rest['description'] as string} Constants: \`${constants}\`.` }),
    ...('properties' in schema && !('additionalProperties' in schema) && { additionalProperties: true }),
  }
}

/** Generators make a field with a `default` a required one of the request. */
function requestShape(schema: Schema): Schema {
  const { default: usual, ...rest } = schema
  return usual === undefined
    ? schema
    : { ...rest, description: `${rest['description'] as string} Default: \`${JSON.stringify(usual)}\`.` }
}
