import {
  AppError,
  EVENT_TYPES,
  type Fault,
  filterFaults,
  filterFieldsOf,
  hidesEndOfCalls,
  MAX_FILTER_BYTES,
  MAX_FILTER_CONDITIONS,
  MAX_FILTER_FIELDS,
  receives,
  type Subscription,
} from '@switchhook/contracts'
import { choice, completeComponent, list, text } from '../../http/schema.ts'

const HIDES_END = 'The filter passes no call.status event of state 7 (ended): the end of a call is never delivered.'

/** Of any type: generators make no usable type of the union of its forms, and `requestedFilterFaults` checks each. */
const conditionSchema = {
  description:
    'What a field may be: a value, null (the field has no value), or an object of one word. `prefix`, `suffix`: how a text begins or ends. ' +
    '`anything-but`: any other value than this one or these. `exists`: whether the field has a value. `numeric`: one or two comparisons, such as `[">", 0, "<=", 60]`.',
} as const

export const filterSchema = {
  type: ['object', 'null'],
  description:
    'Which events of a type to deliver, by fields of their `data`; null: all. Each named field has to meet one of its conditions. A type without an entry ' +
    `passes whole. At most ${MAX_FILTER_FIELDS} fields and ${MAX_FILTER_CONDITIONS} values and conditions per type, and ${MAX_FILTER_BYTES} bytes as JSON. A field without a value (absent or null) only matches null and ` +
    '`exists: false`. An invalid filter answers 400 `invalid-filter`. Test deliveries, and events that you ask for one by one, ignore the filter.',
  minProperties: 1,
  additionalProperties: {
    type: 'object',
    minProperties: 1,
    maxProperties: MAX_FILTER_FIELDS,
    additionalProperties: { type: 'array', minItems: 1, items: conditionSchema },
  },
  examples: [{ 'call.status': { state: [3, 7], agentUri: [{ prefix: 'sip:sales-' }] } }],
} as const

/** The faults of a requested filter. The rules say more than the schema. */
export const requestedFilterFaults = (filter: unknown): Fault[] =>
  filter === undefined || filter === null ? [] : filterFaults(filter, '/filter')

export const isOfFilter = (pointer: string): boolean => /^\/filter(\/|$)/.test(pointer)

/** Lists the fields that can be named for each event type of the filter. @param errors of the whole body */
export function invalidFilter(detail: string, errors: readonly Fault[], filter: unknown): AppError {
  const named = EVENT_TYPES.filter((type) => Object.hasOwn(filter ?? {}, type))
  const knownFields = Object.fromEntries(named.map((type) => [type, filterFieldsOf(type)]))
  return new AppError('invalid-filter', { detail, errors, knownFields })
}

export const warningsSchema = list(
  'What in the settings is valid and probably not meant.',
  completeComponent('SubscriptionWarning', 'A setting that is valid and probably not meant.', {
    code: choice(
      ['filter-hides-end', 'filter-unused', 'pause-over'],
      '`filter-hides-end`: the filter passes no `call.status` event of state 7, so the end of a call is never delivered. `filter-unused`: the filter has an entry for an event type that the subscription does not receive. `pause-over`: `pausedUntil` was in the past when it was set, so it pauses nothing; only the answer to that request has this warning.',
      'filter-hides-end',
    ),
    detail: text('The warning in a sentence. For people; the wording may change.', HIDES_END),
  }),
)

export function warningsOf({ eventTypes, filter = {} }: Pick<Subscription, 'eventTypes' | 'filter'>) {
  const isReceived = (type: string) => receives({ enabled: true, eventTypes }, type)
  const unused = Object.keys(filter).filter((type) => !isReceived(type))
  const warnings = unused.map((type) => ({
    code: 'filter-unused',
    detail: `The filter has an entry for ${type}, which the subscription does not receive.`,
  }))
  if (isReceived('call.status') && hidesEndOfCalls(filter)) {
    warnings.push({ code: 'filter-hides-end', detail: HIDES_END })
  }
  return warnings
}
