import type { EventType } from '../../events/event.ts'

type FilterScalar = string | number | boolean

/** What a field may be. The words are those of EventBridge patterns. */
export type FilterCondition =
  | FilterScalar
  | null
  | { readonly prefix: string }
  | { readonly suffix: string }
  | { readonly 'anything-but': FilterScalar | readonly FilterScalar[] }
  | { readonly exists: boolean }
  /** One or two comparisons, such as `['>', 0, '<=', 60]`. */
  | { readonly numeric: readonly (string | number)[] }

/** The conditions of one event type. Each field has to meet one of its own. */
export type FilterFields = Readonly<Record<string, readonly FilterCondition[]>>

/**
 * Which events of a type a subscription receives, by fields of their `data`. A type without an entry passes whole. A field
 * that is absent counts as null; only `null` and `exists: false` match it.
 */
export type SubscriptionFilter = Readonly<Partial<Record<EventType, FilterFields>>>

export type EventData = Readonly<Record<string, unknown>>

type Matches = (value: unknown) => boolean

export interface FieldTest {
  readonly field: string
  /** @param value as `fieldValue` reads it */
  readonly matches: Matches
}

/** Prepares the conditions of one event type. An event passes if all fields match. */
export const compileFilter = (fields: FilterFields): FieldTest[] =>
  Object.entries(fields).map(([field, conditions]) => ({ field, matches: compileConditions(conditions) }))

export const passesFilter = (filter: SubscriptionFilter | undefined, eventType: string, data: EventData): boolean =>
  Object.entries(filteredFields(filter, eventType) ?? {}).every(([field, conditions]) =>
    compileConditions(conditions)(fieldValue(data, field)),
  )

/** Fields that are the same in all events of a call's leg or of an agent: a filter on them passes all events or none. */
const STEADY_FIELDS: Readonly<Partial<Record<EventType, readonly string[]>>> = {
  'call.status': ['callId', 'agentUri', 'direction'],
  'agent.status': ['agentUri'],
}

/** Whether the filter can pass some events of a call's leg or an agent and not others, so that `sequence` has gaps. */
export function leavesGaps(filter: SubscriptionFilter | undefined, eventType: string): boolean {
  const steady = STEADY_FIELDS[eventType as EventType]
  if (steady === undefined) return false
  return Object.keys(filteredFields(filter, eventType) ?? {}).some((field) => !steady.includes(field))
}

/** The conditions for events of this type. Undefined: the type passes whole. */
export const filteredFields = (filter: SubscriptionFilter | undefined, eventType: string): FilterFields | undefined =>
  filter?.[eventType as EventType]

export const isScalar = (value: unknown): value is FilterScalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

export function compileConditions(conditions: readonly FilterCondition[]): Matches {
  const exact = new Set<unknown>(conditions.filter(isScalar))
  const others = conditions.flatMap((condition) => predicateOf(condition) ?? [])
  const matchesNothing = conditions.some(isAbsence)
  const matchesAny = conditions.some((condition) => isObject(condition) && 'exists' in condition && condition.exists)
  const [predicate, ...more] = others
  // Fan-out judges thousands of filters per event, most of them with one condition for a field.
  if (predicate !== undefined && more.length + exact.size === 0 && !matchesNothing && !matchesAny)
    return (value) => isScalar(value) && predicate(value)
  return (value) => {
    if (value === null || value === undefined) return matchesNothing
    if (matchesAny || exact.has(value)) return true
    return isScalar(value) && others.some((each) => each(value))
  }
}

function predicateOf(condition: FilterCondition): ((value: FilterScalar) => boolean) | undefined {
  if (!isObject(condition)) return undefined
  if ('prefix' in condition) return (value) => typeof value === 'string' && value.startsWith(condition.prefix)
  if ('suffix' in condition) return (value) => typeof value === 'string' && value.endsWith(condition.suffix)
  if ('anything-but' in condition) {
    const [first, ...more] = [condition['anything-but']].flat()
    if (more.length === 0) return (value) => value !== first
    const unwanted = new Set([first, ...more])
    return (value) => !unwanted.has(value)
  }
  if ('exists' in condition) return undefined
  const [first, limit = 0, second, secondLimit = 0] = condition.numeric
  const [holds, alsoHolds] = [comparisonBy(first), second === undefined ? () => true : comparisonBy(second)]
  const [than, andThan] = [Number(limit), Number(secondLimit)]
  return (value) => typeof value === 'number' && holds(value, than) && alsoHolds(value, andThan)
}

type Comparison = (value: number, limit: number) => boolean

export const NUMERIC_OPERATORS: Readonly<Record<string, Comparison>> = {
  '=': (value, limit) => value === limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
}

const comparisonBy = (operator: unknown): Comparison => NUMERIC_OPERATORS[String(operator)] ?? (() => false)

export const isObject = (condition: FilterCondition): condition is Exclude<FilterCondition, FilterScalar | null> =>
  typeof condition === 'object' && condition !== null

export const isAbsence = (condition: FilterCondition): boolean =>
  condition === null || (isObject(condition) && 'exists' in condition && !condition.exists)

const { isRawJSON: isRawJson } = JSON as unknown as {
  readonly isRawJSON: (value: unknown) => value is { readonly rawJSON: string }
}

/** The value of a field. `parseEvent` keeps numbers such as `1.0` as they were written. */
export function fieldValue(data: EventData, field: string): unknown {
  const value = data[field]
  return typeof value === 'object' && isRawJson(value) ? Number(value.rawJSON) : value
}
