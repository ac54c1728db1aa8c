import type { Schema } from './route.ts'

const NAME = Symbol('component name')

/**
 * Names a schema, so that the API document holds it once under `#/components/schemas/<name>`. The name is not a member
 * that JSON Schema sees: validators take the schema as it stands.
 */
export function component<S extends Schema>(name: string, schema: S): S {
  return { ...schema, [NAME]: name }
}

export function componentName(schema: object): string | undefined {
  return (schema as { readonly [NAME]?: string })[NAME]
}

/**
 * Schema of an enum that travels as numbers. `names` is the table of the contracts, so that names and numbers cannot
 * drift apart.
 */
export function numbered(names: Readonly<Record<string, number>>, description: string): Schema {
  const rows = Object.entries(names)
  return {
    type: 'integer',
    description: `${description} ${rows.map(([name, value]) => `${value} ${name}`).join(', ')}.`,
    oneOf: rows.map(([title, value]) => ({ const: value, title })),
  }
}
