import type { Schema } from './route.ts'

const NAME = Symbol('component name')

/** Names a schema, so that the API document holds it once. Validators do not see the name: it is a symbol property. */
export function component<const S extends Schema>(name: string, schema: S): S {
  return { ...schema, [NAME]: name }
}

export function componentName(schema: object): string | undefined {
  return (schema as { readonly [NAME]?: string })[NAME]
}
