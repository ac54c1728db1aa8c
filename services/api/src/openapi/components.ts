import { componentName } from '../http/component.ts'
import type { Schema } from '../http/route.ts'
import { ANSWER_HEADERS, type AnswerHeader } from './answer-headers.ts'

type Kind = 'schemas' | 'responses' | 'headers'

/** Collects what a document says once and refers to from many places. */
export interface Components {
  /** The schema as it stands in the document: each named part in it is a reference. */
  readonly schema: (schema: Schema) => Schema
  /** A reference to a response of this name. */
  readonly response: (name: string, response: Schema) => Schema
  /** A reference to each of these headers, by name. */
  readonly headers: (names: readonly AnswerHeader[]) => Schema
  /** By kind and name, in alphabetical order. */
  readonly collected: () => Readonly<Record<Kind, Readonly<Record<string, Schema>>>>
}

export function createComponents(): Components {
  const known = {
    schemas: new Map<string, Schema>(),
    responses: new Map<string, Schema>(),
    headers: new Map<string, Schema>(),
  }

  /** @throws if one name was given to two different things */
  function add(kind: Kind, name: string, value: Schema): Schema {
    const existing = known[kind].get(name)
    if (existing !== undefined && JSON.stringify(existing) !== JSON.stringify(value)) {
      throw new Error(`two different ${kind} are named ${name}`)
    }
    known[kind].set(name, value)
    return { $ref: `#/components/${kind}/${name}` }
  }

  function refer(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(refer)
    if (typeof value !== 'object' || value === null) return value
    const inner = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, refer(member)]))
    const name = componentName(value)
    return name === undefined ? inner : add('schemas', name, inner)
  }

  return {
    schema: (schema) => refer(schema) as Schema,
    response: (name, response) => add('responses', name, response),
    headers: (names) => Object.fromEntries(names.map((name) => [name, add('headers', name, ANSWER_HEADERS[name])])),
    collected: () => ({
      schemas: sorted(known.schemas),
      responses: sorted(known.responses),
      headers: sorted(known.headers),
    }),
  }
}

const sorted = (named: ReadonlyMap<string, Schema>): Record<string, Schema> =>
  Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1)))
