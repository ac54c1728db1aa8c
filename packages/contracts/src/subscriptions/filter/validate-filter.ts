import { didYouMean, escapeToken, type Fault, inWords } from '../../errors/validator.ts'
import { EVENT_TYPES, type EventType } from '../../events/event.ts'
import { EVENT_CATALOGUE } from '../../events/event-catalogue.ts'
import { NUMERIC_OPERATORS } from './filter.ts'

export const MAX_FILTER_FIELDS = 16
/** Of one event type, over all its fields. */
export const MAX_FILTER_CONDITIONS = 100
export const MAX_FILTER_TEXT_LENGTH = 256
/** Of the whole filter as JSON: every process that sends or fans out holds the filters of all tenants. */
export const MAX_FILTER_BYTES = 4_096

interface FieldSchema {
  readonly type?: string | readonly string[]
  /** The known numbers of the field, and their names. */
  readonly enum?: readonly number[]
  readonly 'x-enum-varnames'?: readonly string[]
}

const schemasOf = (eventType: EventType): Readonly<Record<string, FieldSchema>> =>
  EVENT_CATALOGUE[eventType].schema['properties'] as Readonly<Record<string, FieldSchema>>

/** The fields that a filter can name: those of the `data` of an event type. */
export const filterFieldsOf = (eventType: EventType): string[] => Object.keys(schemasOf(eventType))

const isEventType = (name: string): name is EventType => EVENT_TYPES.some((type) => type === name)

/**
 * Every fault of a filter. A filter that is valid and can never match would withhold everything in silence, so a condition
 * has to fit the type and the known values of its field.
 * @param pointer to the filter in the request
 */
export function filterFaults(filter: unknown, pointer = ''): Fault[] {
  if (!isRecord(filter)) return [{ pointer, detail: 'must be an object of event types, or null' }]
  const entries = Object.entries(filter)
  if (entries.length === 0) return [{ pointer, detail: 'must name an event type; null removes the filter' }]
  const faults = entries.flatMap(([eventType, fields]) =>
    entryFaults(eventType, fields, `${pointer}/${escapeToken(eventType)}`),
  )
  // Only a filter without faults is known to be shallow enough for `stringify`.
  if (faults.length > 0 || new TextEncoder().encode(JSON.stringify(filter)).length <= MAX_FILTER_BYTES) return faults
  return [{ pointer, detail: `must have at most ${MAX_FILTER_BYTES} bytes as JSON` }]
}

function entryFaults(eventType: string, fields: unknown, pointer: string): Fault[] {
  if (!isEventType(eventType)) return [{ pointer, detail: `is not an event type${didYouMean(eventType, EVENT_TYPES)}` }]
  if (!isRecord(fields)) return [{ pointer, detail: `must be an object of fields of the data of ${eventType}` }]
  const entries = Object.entries(fields)
  if (entries.length === 0) return [{ pointer, detail: 'must name a field; omit types that need no filter' }]
  if (entries.length > MAX_FILTER_FIELDS) return [{ pointer, detail: `must have at most ${MAX_FILTER_FIELDS} fields` }]
  const count = entries.reduce((sum, [, conditions]) => sum + (Array.isArray(conditions) ? conditions.length : 0), 0)
  if (count > MAX_FILTER_CONDITIONS)
    return [{ pointer, detail: `must have at most ${MAX_FILTER_CONDITIONS} values and conditions` }]
  const schemas = schemasOf(eventType)
  return entries.flatMap(([field, conditions]) => {
    const at = `${pointer}/${escapeToken(field)}`
    const schema = Object.hasOwn(schemas, field) ? schemas[field] : undefined
    if (schema === undefined)
      return [{ pointer: at, detail: `is not a field of ${eventType}${didYouMean(field, Object.keys(schemas))}` }]
    if (!Array.isArray(conditions) || conditions.length === 0)
      return [{ pointer: at, detail: 'must be a list of at least one value or condition' }]
    return conditions.flatMap((condition, index) => conditionFaults(condition, schema, `${at}/${index}`))
  })
}

function conditionFaults(condition: unknown, schema: FieldSchema, pointer: string): Fault[] {
  if (!isRecord(condition)) {
    const detail = condition === null ? undefined : valueFault(condition, schema)
    return detail === undefined ? [] : [{ pointer, detail }]
  }
  const [word = '', ...more] = Object.keys(condition)
  if (more.length > 0) return [{ pointer, detail: 'must have one word; list several conditions one after the other' }]
  const check = Object.hasOwn(CHECKS, word) ? CHECKS[word] : undefined
  if (check === undefined) {
    const words = Object.keys(CHECKS)
    return [{ pointer, detail: `must have one of the words ${words.join(', ')}${didYouMean(word, words)}` }]
  }
  const detail = check(condition[word], schema)
  return detail === undefined ? [] : [{ pointer: `${pointer}/${word}`, detail }]
}

type Check = (value: unknown, schema: FieldSchema) => string | undefined

const part: Check = (value, schema) => {
  if (kindOf(schema) !== 'string') return 'needs a field that is a string'
  if (typeof value !== 'string' || value === '') return 'must be a string that is not empty'
  return valueFault(value, schema)
}

const CHECKS: Readonly<Record<string, Check>> = {
  prefix: part,
  suffix: part,
  'anything-but': (value, schema) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (values.length === 0) return 'must not be empty'
    if (values.length > MAX_FILTER_CONDITIONS) return `must have at most ${MAX_FILTER_CONDITIONS} values`
    return values.map((each) => valueFault(each, schema)).find((detail) => detail !== undefined)
  },
  exists: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  numeric: (value, schema) => {
    if (kindOf(schema) !== 'number') return 'needs a field that is a number'
    const parts: readonly unknown[] = Array.isArray(value) ? value : []
    const isValid = parts.every((each, at) =>
      at % 2 === 0 ? typeof each === 'string' && Object.hasOwn(NUMERIC_OPERATORS, each) : typeof each === 'number',
    )
    return isValid && (parts.length === 2 || parts.length === 4)
      ? undefined
      : `must be one or two comparisons, such as [">", 0, "<=", 60], with ${Object.keys(NUMERIC_OPERATORS).join(', ')}`
  },
}

/** Of the value of a field that is not null. */
function kindOf({ type }: FieldSchema) {
  const name = [type].flat().find((each) => each !== 'null')
  if (name === 'integer' || name === 'number') return 'number'
  return name === 'string' || name === 'boolean' ? name : 'object'
}

function valueFault(value: unknown, schema: FieldSchema): string | undefined {
  const kind = kindOf(schema)
  if (kind === 'object') return 'must be null or exists, because the field is an object'
  if (typeof value !== kind) return `must be ${inWords([kind])}, as the field is`
  if (typeof value === 'string' && value.length > MAX_FILTER_TEXT_LENGTH)
    return `must have at most ${MAX_FILTER_TEXT_LENGTH} characters`
  const { enum: known, 'x-enum-varnames': names = [] } = schema
  if (known === undefined || known.some((each) => each === value)) return undefined
  return `must be one of ${known.map((each, at) => `${each} ${names[at]}`).join(', ')}`
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
