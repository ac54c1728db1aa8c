import type { FieldsOf } from '@switchhook/contracts'

export type { ValueOf } from '@switchhook/contracts'

/**
 * JSON Schema 2020-12, written inline without `$ref`. The API document holds a part named by `component` once, under
 * its name.
 */
export type Schema = Readonly<Record<string, unknown>>

const NAME = Symbol('component name')

/** Names a schema, so that the API document holds it once. Validators do not see the name: it is a symbol property. */
export const component = <const S extends Schema>(name: string, schema: S): S => ({ ...schema, [NAME]: name })

export const componentName = (schema: object): string | undefined => (schema as { readonly [NAME]?: string })[NAME]

const SHOWN = Symbol('shown schema')

/** Accepts what `schema` describes, and shows clients a narrower form. */
export const shownAs = <const S extends Schema>(schema: S, shown: Schema): S => ({ ...schema, [SHOWN]: shown })

export const shownSchema = (schema: Schema): Schema => (schema as { readonly [SHOWN]?: Schema })[SHOWN] ?? schema

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

export const moment = (description: string, example: string | null = '2026-11-20T17:06:01.173Z') =>
  ({ type: 'string', format: 'date-time', description, examples: [example] }) as const

export const list = <Items extends Schema>(description: string, items: Items, more?: object) =>
  ({ type: 'array', description, items, ...more }) as const

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

/** The fields of a value that the schema describes. */
export const described = <Names extends string, Value extends Readonly<Record<Names, unknown>>>(
  { properties }: { readonly properties: Readonly<Record<Names, unknown>> },
  value: Value,
) => Object.fromEntries(Object.keys(properties).map((name) => [name, value[name as Names]])) as Pick<Value, Names>

export const nextCursorSchema = orNull(
  text(
    'The `cursor` of the next page; null: this is the last page. Send it with the same other parameters. ' +
      'A page can have fewer items than `limit` and still have a next page. It is empty only at the end, and after a search of ten seconds without a match.',
    null,
  ),
)

/** Schema of one page of a list. @param order of the items, as part of a sentence */
export const pageSchema = (name: string, description: string, item: Schema, order = 'newest first') =>
  completeComponent(name, description, {
    items: { type: 'array', description: `The items of this page, ${order}.`, items: item },
    nextCursor: nextCursorSchema,
  })

export const pageParameters = {
  limit: integer('The maximum number of items per page.', 20, { minimum: 1, maximum: 100, default: 20 }),
  cursor: {
    type: 'string',
    maxLength: 512,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The `nextCursor` of the previous page. Send the same other parameters as for that page.',
  },
} as const

/** The query of a request to a route with these parameters. Only those with a default are always there. */
export type QueryOf<Parameters> = FieldsOf<
  Parameters,
  {
    [Name in keyof Parameters]: Parameters[Name] extends { readonly default: unknown } ? Name : never
  }[keyof Parameters]
>
