import { CallState, EndReason } from '../../events/call.ts'
import {
  compileConditions,
  type EventData,
  type FilterCondition,
  fieldValue,
  filteredFields,
  isAbsence,
  isObject,
  isScalar,
  type SubscriptionFilter,
} from './filter.ts'

/** Why an event does not pass: the first field that does not match. Undefined: it passes. */
export function filterRefusal(
  filter: SubscriptionFilter | undefined,
  eventType: string,
  data: EventData,
): string | undefined {
  for (const [field, conditions] of Object.entries(filteredFields(filter, eventType) ?? {})) {
    const value = fieldValue(data, field)
    if (!compileConditions(conditions)(value))
      return `${field} was ${shown(value)}; the filter wants ${wanted(conditions)}`
  }
  return undefined
}

const MAX_SHOWN_LENGTH = 64
const MAX_SHOWN_CONDITIONS = 5

function shown(value: unknown): string {
  if (value === undefined) return 'absent'
  return value === null || isScalar(value) ? shortened(JSON.stringify(value)) : 'an object'
}

const shortened = (text: string): string =>
  text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH - 1)}…`

function wanted(conditions: readonly FilterCondition[]): string {
  const texts = conditions.slice(0, MAX_SHOWN_CONDITIONS).map(conditionText)
  const more = conditions.length - texts.length
  return [...texts, ...(more > 0 ? [`${more} more`] : [])].join(' or ')
}

function conditionText(condition: FilterCondition): string {
  if (!isObject(condition)) return shown(condition)
  if ('prefix' in condition) return `${shown(condition.prefix)} at the beginning`
  if ('suffix' in condition) return `${shown(condition.suffix)} at the end`
  if ('anything-but' in condition) return `anything but ${wanted([condition['anything-but']].flat())}`
  if ('exists' in condition) return condition.exists ? 'any value' : 'no value'
  return condition.numeric.join(' ').replace(/(\d) (?=[<>=])/, '$1 and ')
}

/** Fields that tell the end of a call from its other events, with the values that they have at the end. Absent: any value. */
const AT_THE_END: Readonly<Record<string, readonly number[] | undefined>> = {
  state: [CallState.ended],
  endReason: Object.values(EndReason).filter((reason) => reason !== EndReason.none),
  endedAt: undefined,
  durationSeconds: undefined,
}

/** Whether no event of state 7 can pass, so that the subscriber never learns that a call has ended. */
export function hidesEndOfCalls(filter: SubscriptionFilter): boolean {
  const fields = filter['call.status'] ?? {}
  return Object.entries(AT_THE_END).some(([field, values]) => {
    const conditions = fields[field]
    if (conditions === undefined) return false
    return values === undefined ? conditions.every(isAbsence) : !values.some(compileConditions(conditions))
  })
}
