export const guid = (description: string) => ({ type: 'string', format: 'uuid', description }) as const

export const time = (description: string) => ({ type: 'string', format: 'date-time', description }) as const

export const text = (description: string) => ({ type: 'string', description }) as const

export const integer = (description: string, limits: { readonly minimum?: number } = {}) =>
  ({ type: 'integer', ...limits, description }) as const

export const nullable = <T extends { readonly type: string }>(schema: T) =>
  ({ ...schema, type: [schema.type, 'null'] }) as const

/** @param stream what the number counts the events of, for the description */
export const sequenceOf = (stream: string) =>
  integer(
    `Counts the events of ${stream} from 1, without gaps. The later \`(occurredAt, sequence)\` is the newer state: \`occurredAt\` never goes back while \`sequence\` goes up, and after a restore or failover of Redis a number can repeat.`,
    { minimum: 1 },
  )

export const occurredAt = time('Same as `occurredAt` of the envelope.')

/** JSON Schema of an object. Every property is required. */
export const objectSchema = (properties: object) =>
  ({ type: 'object', required: Object.keys(properties), properties }) as const

export const describedObject = <Properties extends object>(description: string, properties: Properties) =>
  ({ type: 'object', description, required: Object.keys(properties), properties }) as const

/** JSON Schema of the `data` of an event type. Every property is required. */
export const dataSchema = <Properties extends object, Example extends object>(
  description: string,
  properties: Properties,
  example: Example,
) => ({ ...describedObject(description, properties), examples: [example] })

/** The data that a `dataSchema` of plain properties describes. */
export type DataOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? { readonly [Name in keyof Properties]: ValueOf<Properties[Name]> }
  : never

interface Values {
  readonly string: string
  readonly integer: number
  readonly null: null
}

type ValueOf<Property> = Property extends { readonly type: infer Type }
  ? Values[(Type extends readonly (infer Each)[] ? Each : Type) & keyof Values]
  : never

/** JSON Schema of an enum that is transmitted as a number. `names` is the table that the code uses. */
export function numberedSchema(names: Readonly<Record<string, number>>, description: string) {
  const rows = Object.entries(names)
  return {
    type: 'integer',
    description: `${description} ${rows.map(([name, value]) => `${value} ${name}`).join(', ')}.`,
    oneOf: rows.map(([title, value]) => ({ const: value, title })),
  } as const
}
