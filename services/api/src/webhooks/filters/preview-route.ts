import {
  AppError,
  coveredTypes,
  EVENT_TYPES,
  type EventData,
  type EventType,
  filterRefusal,
  type SubscribedType,
  type SubscriptionFilter,
} from '@switchhook/contracts'
import { type JournalEntry, microsOf } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { invalidBody } from '../../http/read-body.ts'
import type { RouteOf } from '../../http/route.ts'
import { completeComponent, component, count, list, moment, momentOrNull, orNull, text } from '../../http/schema.ts'
import { eventIdSchema } from '../deliveries/delivery-schema.ts'
import { momentOf } from '../moment.ts'
import {
  filterSchema,
  invalidFilter,
  isOfFilter,
  requestedFilterFaults,
  warningsOf,
  warningsSchema,
} from '../subscriptions/filter-schema.ts'
import { subscribedTypeSchema } from '../subscriptions/subscription-schema.ts'

interface PreviewRequest {
  readonly filter: SubscriptionFilter
  readonly eventTypes?: readonly SubscribedType[] | null
}

const PAGE = 200
const MAX_READ = 2_000
/** The answer of a slow Redis covers fewer events instead of taking longer. */
const MAX_MS = 1_000
/** Of those that pass, and of those that do not. */
const MAX_EXAMPLES = 5

const requestSchema = component('FilterPreviewRequest', {
  type: 'object',
  description: 'The filter to try.',
  required: ['filter'],
  additionalProperties: false,
  properties: {
    filter: { ...filterSchema, type: 'object', description: 'The filter, as in a subscription.' },
    eventTypes: orNull(
      list('The event types of the subscription. Omitted or null: those that the filter names.', subscribedTypeSchema, {
        minItems: 1,
        examples: [['call.status']],
      }),
    ),
  },
})

const previewSchema = completeComponent('FilterPreview', 'What the filter would have passed.', {
  looked: count('The number of events of these types that were judged, the latest of the journal.', 412),
  matched: count('The number of these events that pass.', 96),
  since: momentOrNull('When the oldest event that was looked at was journaled, in UTC.'),
  examples: list(
    `The latest ${MAX_EXAMPLES} events that pass and the latest ${MAX_EXAMPLES} that do not, the newest first.`,
    completeComponent('FilterExample', 'An event, and whether it passes.', {
      eventId: eventIdSchema,
      eventType: { type: 'string', enum: EVENT_TYPES, description: 'The event type.' },
      occurredAt: moment('When the event occurred, in UTC.'),
      refusal: orNull(text('Why the event does not pass; null if it does.', 'state was 2; the filter wants 3 or 7')),
    }),
  ),
  warnings: warningsSchema,
})

const previewFilter: RouteOf<Pick<Base, 'journal'>, PreviewRequest> = {
  method: 'post',
  path: '/api/v1/webhooks/filters/preview',
  operationId: 'previewFilter',
  tag: 'subscriptions',
  role: 'viewer',
  isExpensive: true,
  summary: 'Try a filter on past events',
  description:
    `Judges the latest events of the journal by a filter, before it is saved. Changes nothing. It reads at most the latest ${MAX_READ} events of the tenant, of all ` +
    'types, for at most a second. Events whose data the journal does not have (larger than 16 KiB) are left out.',
  body: requestSchema,
  validate: (body, faults) => {
    const { filter } = (body ?? {}) as { readonly filter?: unknown }
    const others = faults.filter(({ pointer }) => filter === undefined || filter === null || !isOfFilter(pointer))
    if (others.length > 0) return invalidBody(requestSchema, others)
    const filterFaults = requestedFilterFaults(filter)
    return filterFaults.length === 0 ? undefined : invalidFilter('The filter is not valid.', filterFaults, filter)
  },
  responses: { 200: { description: 'What the filter would have passed.', body: previewSchema } },
  failures: ['invalid-filter', 'journal-off'],
  async handle({ caller, body: { filter, eventTypes } }, { journal }) {
    if (!journal.isOn) throw new AppError('journal-off')
    const covered = coveredTypes(eventTypes ?? (Object.keys(filter) as EventType[]))
    const judged = []
    let last: JournalEntry | undefined
    const endMs = performance.now() + MAX_MS
    for (let read = 0; read < MAX_READ && performance.now() < endMs; read += PAGE) {
      const entries = await journal.latest(caller.tenant, PAGE, last?.id)
      for (const { eventId, eventType, occurredAt, dataJson } of entries) {
        if (dataJson === null || !covered.includes(eventType)) continue
        const refusal = filterRefusal(filter, eventType, JSON.parse(dataJson) as EventData) ?? null
        judged.push({ eventId, eventType, occurredAt, refusal })
      }
      last = entries.at(-1) ?? last
      if (entries.length < PAGE) break
    }
    const passing = judged.filter(({ refusal }) => refusal === null)
    const refused = judged.filter(({ refusal }) => refusal !== null)
    const body = {
      looked: judged.length,
      matched: passing.length,
      since: momentOf(last && microsOf(last.id) / 1_000),
      examples: [...passing.slice(0, MAX_EXAMPLES), ...refused.slice(0, MAX_EXAMPLES)],
      warnings: warningsOf({ eventTypes: covered, filter }),
    }
    return { status: 200, body }
  },
}

export const filters = feature([previewFilter], (base: Base) => ({ deps: base }))
