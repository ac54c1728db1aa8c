export const guid = (description: string) => ({ type: 'string', format: 'uuid', description }) as const

/** A `guid` for one kind of ids. `~id` is in the type alone: `ValueOf` takes the type of the values from it. */
export type GuidOf<Id> = ReturnType<typeof guid> & { readonly '~id'?: Id }

export const time = (description: string) => ({ type: 'string', format: 'date-time', description }) as const

export const text = (description: string) => ({ type: 'string', description }) as const

export const integer = (description: string, limits: { readonly minimum?: number } = {}) =>
  ({ type: 'integer', ...limits, description }) as const

export const nullable = <const T extends { readonly type: string }>({ type, ...schema }: T) =>
  ({ type: [type as T['type'], 'null'], ...schema }) as const

/** @param stream what the number counts the events of, for the description */
export const sequenceOf = (stream: string) =>
  integer(
    `Counts the events of ${stream} from 1, without gaps. The later \`(occurredAt, sequence)\` is the newer state: \`occurredAt\` never goes back while \`sequence\` goes up, and after a restore or failover of Redis a number can repeat.`,
    { minimum: 1 },
  )

export const occurredAt = time('Same as `occurredAt` of the envelope.')

export const describedObject = <const Properties extends object>(description: string, properties: Properties) =>
  ({ type: 'object', description, required: Object.keys(properties), properties }) as const

/** JSON Schema of the `data` of an event type. Every property is required. */
export const dataSchema = <const Properties extends object, Example extends object>(
  description: string,
  properties: Properties,
  example: Example,
) => ({ ...describedObject(description, properties), examples: [example] }) as const

/** The values that a schema admits, as a type: by `type`, `enum`, `anyOf`, `items`, `properties` and `required`. */
export type ValueOf<S> = S extends { readonly type: infer Types }
  ? Admitted<S, Types extends readonly unknown[] ? Types[number] : Types>
  : S extends { readonly anyOf: readonly (infer One)[] }
    ? ValueOf<One>
    : unknown

type Admitted<S, Type> = Type extends 'null'
  ? null
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Type extends keyof Scalars<S>
      ? Scalars<S>[Type]
      : S extends { readonly items: infer Item }
        ? readonly ValueOf<Item>[]
        : S extends { readonly properties: infer Fields }
          ? FieldsOf<Fields, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
          : unknown

interface Scalars<S> {
  readonly string: S extends { readonly '~id'?: infer Id extends string } ? Id : string
  readonly integer: number
  readonly number: number
  readonly boolean: boolean
}

/** A `required` that is not literal makes all fields required, as `objectSchema` does. */
export type FieldsOf<Fields, Required> = {
  readonly [Name in keyof Fields as Name extends Required ? Name : never]: ValueOf<Fields[Name]>
} & { readonly [Name in keyof Fields as Name extends Required ? never : Name]?: ValueOf<Fields[Name]> }

/** JSON Schema of an enum that is transmitted as a number. `names` is the table that the code uses. */
export function numberedSchema<Value extends number>(names: Readonly<Record<string, Value>>, description: string) {
  const rows = Object.entries(names)
  return {
    type: 'integer',
    description: `${description} ${rows.map(([name, value]) => `${value} ${name}`).join(', ')}.`,
    enum: rows.map(([, value]) => value),
    // The names that generators give to the constants.
    'x-enum-varnames': rows.map(([name]) => name.replaceAll(/-(\w)/g, (_hyphen, next: string) => next.toUpperCase())),
  } as const
}
