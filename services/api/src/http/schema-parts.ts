import { component } from './component.ts'
import type { Schema } from './route.ts'

export const text = (description: string, example: string | null, more?: object) =>
  ({ type: 'string', description, examples: [example], ...more }) as const

export const guid = (description: string, example: string) =>
  ({ type: 'string', format: 'uuid', description, examples: [example] }) as const

export const choice = <Value extends string>(values: readonly Value[], description: string, example: Value | null) =>
  ({ type: 'string', enum: values, description, examples: [example] }) as const

export const flag = (description: string, example: boolean) =>
  ({ type: 'boolean', description, examples: [example] }) as const

export const integer = <const More extends object>(description: string, example: number | null, more = {} as More) =>
  ({ type: 'integer', description, examples: [example], ...more }) as const

export const count = (description: string, example: number | null, minimum = 0) =>
  ({ type: 'integer', minimum, description, examples: [example] }) as const

/** A bound of a window in a query. */
export const time = (description: string, example = '2026-11-20T17:00:00Z') =>
  ({ type: 'string', format: 'date-time', description, examples: [example] }) as const

/** A time that the service states. */
export const moment = (description: string, example: string | null = '2026-11-20T17:06:01.173Z') =>
  ({ type: 'string', format: 'date-time', description, examples: [example] }) as const

export const list = <Items extends Schema>(description: string, items: Items, more?: object) =>
  ({ type: 'array', description, items, ...more }) as const

/** The schema of a field that can be null. */
export const orNull = <S extends Readonly<{ type: string; enum?: readonly unknown[] }>>(
  schema: S,
): Omit<S, 'type'> & { readonly type: readonly [S['type'], 'null'] } => ({
  ...schema,
  type: [schema.type, 'null'],
  ...(schema.enum && { enum: [...schema.enum, null] }),
})

export const momentOrNull = (description: string, example?: string | null) => orNull(moment(description, example))

/** An object that always has all of these fields. */
export const completeObject = <P extends Readonly<Record<string, Schema>>>(description: string, properties: P) => ({
  type: 'object',
  description,
  required: Object.keys(properties),
  properties,
})

/** The same as a part of the API document. */
export const completeComponent = <P extends Readonly<Record<string, Schema>>>(
  name: string,
  description: string,
  properties: P,
) => component(name, completeObject(description, properties))
