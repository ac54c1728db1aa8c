import { PARKED_REASONS, type ParkedReason } from '@switchhook/contracts'
import { component } from '../http/component.ts'
import type { Schema } from '../http/route.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { WAITING_FOR, type WaitingFor } from './pace.ts'
import type { Recovery, Selection } from './recovery.ts'

/** What a client asks for. */
export interface RecoveryRequest {
  readonly from?: string | null
  readonly to?: string | null
  readonly reason?: ParkedReason | null
  readonly maxPerSecond?: number | null
  readonly dryRun?: boolean
}

/** A recovery as clients see it. */
export interface RecoveryView extends Selection {
  readonly recoveryId: string
  readonly subscriptionId: string
  readonly maxPerSecond: number | null
  readonly state: 'running' | 'paused' | 'done' | 'cancelled'
  readonly waitingFor: WaitingFor | null
  readonly cancelledBecause: Recovery['cancelledBecause']
  readonly found: number
  readonly sent: number
  readonly skipped: number
  readonly failed: number
  readonly remaining: number
  readonly parkedSince: number
  readonly perSecond: number
  readonly startedAt: string
  readonly updatedAt: string
  readonly endedAt: string | null
}

/** @param parkedSince how many of the subscription's parked deliveries were parked since it began */
export function viewOf(recovery: Recovery, parkedSince: number): RecoveryView {
  const { recoveryId, subscriptionId, selection, maxPerSecond, waitingFor, cancelledBecause } = recovery
  const { found, sent, skipped, failed, pace, startedAt, updatedAt, endedAt } = recovery
  const isSending = recovery.state === 'running' && waitingFor === null
  return {
    recoveryId,
    subscriptionId,
    from: selection.from,
    to: selection.to,
    reason: selection.reason,
    maxPerSecond,
    state: recovery.state === 'running' && !isSending ? 'paused' : recovery.state,
    waitingFor,
    cancelledBecause,
    found,
    sent,
    skipped,
    failed,
    remaining: Math.max(0, found - sent - skipped - failed),
    parkedSince,
    perSecond: isSending ? pace.perSecond : 0,
    startedAt,
    updatedAt,
    endedAt,
  }
}

/** At most what an installation may be configured to. */
const MOST_PER_SECOND = 1_000

const moment = (description: string): Schema => ({
  type: 'string',
  format: 'date-time',
  description,
  examples: ['2026-11-20T17:06:01.173Z'],
})

const momentOrNull = (description: string): Schema => ({ ...moment(description), type: ['string', 'null'] })

const selection = {
  from: momentOrNull('Parked at this time or later; left out or null: from the oldest on.'),
  to: momentOrNull(
    'Parked before this time; left out or null: until now. What is parked after the recovery began is never taken.',
  ),
  reason: {
    type: ['string', 'null'],
    enum: [...PARKED_REASONS, null],
    description:
      'Parked for this reason: `exhausted` after an outage, `rejected` after a receiver that refused by mistake. Left out ' +
      'or null: for either.',
    examples: ['exhausted'],
  },
  maxPerSecond: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: MOST_PER_SECOND,
    description: 'Deliveries per second at most. The installation has a limit of its own, which holds in any case.',
    examples: [20],
  },
} as const

export const recoveryRequestSchema = component('NewRecovery', {
  type: 'object',
  description:
    'Which parked deliveries to send again. `{}`: all of them. A member that is not named here is refused, as all would be sent again for a misspelt one.',
  additionalProperties: false,
  properties: {
    ...selection,
    dryRun: {
      type: 'boolean',
      default: false,
      description: 'Count only; nothing is sent and nothing changes.',
      examples: [true],
    },
  },
  examples: [{ from: '2026-11-20T17:00:00Z', reason: 'exhausted', dryRun: true }],
})

export const recoveryCountSchema = component('RecoveryCount', {
  type: 'object',
  description: 'What a recovery would send again.',
  required: ['dryRun', 'count', 'withoutBody', 'oldest', 'newest'],
  properties: {
    dryRun: { type: 'boolean', const: true, description: 'Nothing was sent.', examples: [true] },
    count: {
      type: 'integer',
      minimum: 0,
      description: 'Parked deliveries that were found, and can be sent again.',
      examples: [1280],
    },
    withoutBody: {
      type: 'integer',
      minimum: 0,
      description: 'Parked deliveries that cannot be sent again, because their body is no longer kept.',
      examples: [0],
    },
    oldest: momentOrNull('When the first of them was parked, in UTC.'),
    newest: momentOrNull('When the last of them was parked, in UTC.'),
  },
})

export const recoveryIdSchema = {
  type: 'string',
  format: 'uuid',
  description: 'The id of the recovery.',
  examples: ['b3b3c5c4-1f0e-4b36-9a55-0d8a5a6c7e21'],
} as const

const count = (description: string, example: number): Schema => ({
  type: 'integer',
  minimum: 0,
  description,
  examples: [example],
})

export const recoverySchema = component('Recovery', {
  type: 'object',
  description: 'The sending again of the parked deliveries of a subscription.',
  required: [
    'recoveryId',
    'subscriptionId',
    'from',
    'to',
    'reason',
    'maxPerSecond',
    'state',
    'waitingFor',
    'cancelledBecause',
    'found',
    'sent',
    'skipped',
    'failed',
    'remaining',
    'parkedSince',
    'perSecond',
    'startedAt',
    'updatedAt',
    'endedAt',
  ],
  properties: {
    recoveryId: recoveryIdSchema,
    subscriptionId: subscriptionIdSchema,
    ...selection,
    state: {
      type: 'string',
      enum: ['running', 'paused', 'done', 'cancelled'],
      description: '`paused`: it goes on by itself as soon as what it waits for is there.',
      examples: ['running'],
    },
    waitingFor: {
      type: ['string', 'null'],
      enum: [...WAITING_FOR, null],
      description:
        'Why nothing is sent now. `endpoint-cooling-down`: the endpoint keeps failing and is not contacted for a while. ' +
        '`endpoint-answers`: what was sent is not answered yet. `subscription-enabled`: the subscription is disabled. ' +
        '`broker`: a part of the service is away.',
      examples: [null],
    },
    cancelledBecause: {
      type: ['string', 'null'],
      enum: ['requested', 'subscription-deleted', 'no-progress', null],
      description:
        'Why it was cancelled; null if it was not. `no-progress`: it was paused, and sent nothing, for 30 days.',
      examples: [null],
    },
    found: count('Parked deliveries that were found when it began.', 1280),
    sent: count('Of those, how many were sent again. What becomes of them is told by each delivery.', 412),
    skipped: count('Were not parked any more when their turn came.', 0),
    failed: count(
      'Could not be sent again, mostly because their body is no longer kept (see `parked` of the subscription).',
      0,
    ),
    remaining: count('Are still to be sent; of a cancelled recovery: stay parked.', 868),
    parkedSince: count(
      'How many deliveries of the subscription are parked that were not when it began: what it has sent again and the endpoint has ' +
        'refused again, and what was parked for the first time since. 0: nothing is left behind, so far.',
      3,
    ),
    perSecond: {
      type: 'number',
      minimum: 0,
      description: 'The present pace. It rises while the endpoint acknowledges, and falls when it fails.',
      examples: [16],
    },
    startedAt: moment('When it began, in UTC.'),
    updatedAt: moment('When it last made a step, in UTC.'),
    endedAt: momentOrNull('When it was done or cancelled, in UTC.'),
  },
})

export const recoveryListSchema = component('RecoveryList', {
  type: 'object',
  description: 'The recoveries of a subscription.',
  required: ['items'],
  properties: { items: { type: 'array', description: 'The newest first.', items: recoverySchema } },
})
