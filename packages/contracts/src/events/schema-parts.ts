export const guid = (description: string) => ({ type: 'string', format: 'uuid', description }) as const

/** A `guid` for one kind of ids. `~id` is in the type alone: `DataOf` takes the type of the values from it. */
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

/** The data that a schema of these parts describes. */
export type DataOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? { readonly [Name in keyof Properties]: ValueOf<Properties[Name]> }
  : never

/** By the `type` of a schema. */
interface Values<Schema> {
  readonly string: Schema extends { readonly '~id'?: infer Id extends string } ? Id : string
  readonly integer: Schema extends { readonly enum: readonly (infer Value)[] } ? Value : number
  readonly boolean: boolean
  readonly object: DataOf<Schema>
  readonly null: null
}

type ValueOf<Schema> = Schema extends { readonly type: infer Type }
  ? Values<Schema>[(Type extends readonly (infer Each)[] ? Each : Type) & keyof Values<Schema>]
  : never

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
