import { componentName } from '../http/component.ts'
import type { Schema } from '../http/route.ts'

/** By the name of a component: members that an example of it has instead of those that their own schemas give. */
export type ExampleDetails = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A value of this schema, made of the examples in it; undefined where it has none. */
export function exampleOf(schema: Schema, details: ExampleDetails = {}): unknown {
  const { examples, properties, items, oneOf } = schema
  const [first] = [...((examples as unknown[] | undefined) ?? []), ...choicesOf(schema)]
  if (first !== undefined) return first
  if (properties !== undefined) {
    const members = objectOf(properties as Readonly<Record<string, Schema>>, details)
    return merged(members, details[componentName(schema) ?? ''])
  }
  if (items !== undefined) return [exampleOf(items as Schema, details)]
  return Array.isArray(oneOf) ? exampleOf(oneOf[0] as Schema, details) : undefined
}

/** Lists are taken as they stand; a member that is undefined is left out. */
export function merged(example: unknown, more: unknown): unknown {
  if (!isObject(example) || !isObject(more)) return more === undefined ? example : more
  const members = Object.entries(more).map(([name, value]) => [
    name,
    value === undefined ? undefined : merged(example[name], value),
  ])
  const all = { ...example, ...(Object.fromEntries(members) as object) }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function objectOf(properties: Readonly<Record<string, Schema>>, details: ExampleDetails): object {
  const members = Object.entries(properties).map(([name, member]) => [name, exampleOf(member, details)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

const choicesOf = ({ const: only, enum: choices = [] }: Schema): readonly unknown[] =>
  only === undefined ? (choices as readonly unknown[]) : [only]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
