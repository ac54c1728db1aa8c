import { componentName, type Schema, shownSchema } from '../schema.ts'
import { ANSWER_HEADERS, type AnswerHeader } from './answer-headers.ts'
import { constantsOf } from './numbers.ts'

type Kind = 'schemas' | 'responses' | 'headers'

/** What a schema describes. A parameter is shown as the service reads it. */
type Use = 'answer' | 'request' | 'parameter'

export type Components = ReturnType<typeof createComponents>

/** Collects the named parts of a document, so that each appears once and is referenced elsewhere. */
export function createComponents() {
  const known: Record<Kind, Map<string, Schema>> = { schemas: new Map(), responses: new Map(), headers: new Map() }

  /** @throws if two different parts have the same name */
  function add(kind: Kind, name: string, value: Schema): Schema {
    const existing = known[kind].get(name)
    if (existing !== undefined && JSON.stringify(existing) !== JSON.stringify(value)) {
      throw new Error(`two different ${kind} are named ${name}`)
    }
    known[kind].set(name, value)
    return { $ref: `#/components/${kind}/${name}` }
  }

  function refer(schema: Schema, use: Use): Schema {
    const inner = withParts(clientShape(schema, use), (part) => refer(part, use))
    const name = componentName(schema)
    return name === undefined ? inner : add('schemas', name, inner)
  }

  return {
    /** The schema with each of its named parts replaced by a reference. */
    schema: refer,
    response: (name: string, response: Schema): Schema => add('responses', name, response),
    headers: (names: readonly AnswerHeader[]): Schema =>
      Object.fromEntries(names.map((name) => [name, add('headers', name, ANSWER_HEADERS[name])])),
    /** All named parts, by kind and in alphabetical order. */
    collected: () => Object.fromEntries(Object.entries(known).map(([kind, named]) => [kind, sorted(named)])),
  }
}

/** A schema in the form that generators of clients read well. Its parts are not converted. */
function clientShape(schema: Schema, use: Use): Schema {
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

/** The schema with its inner schemas converted. */
function withParts(schema: Schema, convert: (part: Schema) => Schema): Schema {
  const part = (key: string, value: unknown): unknown => {
    if (key === 'properties') {
      return Object.fromEntries(Object.entries(value as Schema).map(([name, one]) => [name, convert(one as Schema)]))
    }
    if (key === 'oneOf' || key === 'anyOf') return (value as Schema[]).map(convert)
    return (key === 'items' || key === 'additionalProperties') && typeof value === 'object'
      ? convert(value as Schema)
      : value
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, part(key, value)]))
}

const sorted = (named: ReadonlyMap<string, Schema>): Record<string, Schema> =>
  Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1)))

export const jsonContent = (schema: Schema, example: unknown): Schema => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
})

/** Moves the description from the schema to the parameter or header that has it, where OpenAPI viewers show it. */
export const describedBy = ({ description, ...schema }: Schema): Schema => ({ description, schema })
