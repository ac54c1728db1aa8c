import { AppError } from '@switchhook/contracts'
import { type RouteOf, reads } from '../../http/route.ts'
import { completeComponent, completeObject, count, list, orNull } from '../../http/schema.ts'
import type { WebhookParts } from '../stores.ts'

/** A time that can be longer than 24 days, which in ms does not fit the 32 bits that generators give to an integer. */
const days = (description: string, exampleMs: number) =>
  ({ ...count(description, exampleMs), format: 'int64' }) as const

const policySchema = completeComponent('DeliveryPolicy', 'How this installation delivers.', {
  deliveryTimeoutMs: count('The deadline of one attempt in ms.', 10_000),
  retryWaitsMs: list(
    'The waits between attempts in ms. A delivery has one attempt more than there are waits.',
    { type: 'integer', minimum: 0 },
    { examples: [[10_000, 60_000, 300_000, 1_800_000, 7_200_000, 14_400_000, 21_600_000]] },
  ),
  breaker: completeObject('When an endpoint is not contacted for a while.', {
    failures: count(
      'Transient failures in a row that begin a cool-down. As many also do that took over a second, among twice as many results.',
      5,
    ),
    cooldownMs: count('The length of a cool-down in ms.', 30_000),
  }),
  retention: completeObject('How long deliveries and events are kept.', {
    deliveryMs: days('How long an acknowledged or withdrawn delivery can be read, in ms.', 3_600_000),
    parkedMs: days('How long a parked delivery is kept, in ms.', 2_592_000_000),
    journalMs: orNull(
      days('How long events are kept with their data, in ms; null: this installation does not keep them.', 86_400_000),
    ),
  }),
  limits: completeObject('What one subscription or tenant can have.', {
    subscriptionsPerTenant: count(
      'Subscriptions that the tenant can have; one more answers 409 `too-many-subscriptions`.',
      100_000,
    ),
    parkedPerSubscription: count('Parked deliveries of one subscription that keep their body.', 100_000),
    parkedPerTenant: count('Parked deliveries of the tenant that keep their body.', 150_000),
    settledPerTenant: count(
      'Settled deliveries of the tenant that are kept for `deliveryMs`; further ones for about a minute.',
      500_000,
    ),
    waitingPerTenant: count('Deliveries of the tenant that wait for a retry; further ones are parked.', 1_000_000),
    attemptsAtOnce: count('Attempts that one worker makes at one subscription concurrently.', 10),
    quickAttemptsAtOnce: count('Likewise while the endpoint answers within 250 ms.', 80),
    recoveryPerSecond: count('Deliveries per second that a recovery sends at most.', 50),
  }),
  egressAddresses: list(
    'The addresses and networks that deliveries come from, for the allow-list of a firewall. Empty: the operator has not named them.',
    { type: 'string' },
    { examples: [['203.0.113.0/28']] },
  ),
})

const NO_REPORT = 'No delivery worker has reported its policy yet.'

export const readPolicy: RouteOf<Pick<WebhookParts, 'config' | 'policy'>> = {
  ...reads('deliveries'),
  path: '/api/v1/webhooks/policy',
  operationId: 'readPolicy',
  summary: 'Read the delivery policy',
  description:
    'Returns the schedule, the limits and the retention times in force, as a delivery worker reported them last. Before the first worker has started, ' +
    'it answers 503 `service-unavailable`.',
  responses: { 200: { description: 'The policy.', body: policySchema } },
  async handle(_request, { policy, config }) {
    const reported = await policy.find()
    if (reported === undefined) throw new AppError('service-unavailable', { detail: NO_REPORT })
    const journalMs = config.EVENT_JOURNAL_SIZE === 0 ? null : config.EVENT_JOURNAL_RETENTION
    const [recoveryPerSecond, subscriptionsPerTenant] = [config.RECOVERY_RATE, config.SUBSCRIPTION_LIMIT_PER_TENANT]
    const body = {
      ...reported,
      retention: { ...reported.retention, journalMs },
      limits: { ...reported.limits, recoveryPerSecond, subscriptionsPerTenant },
      egressAddresses: config.EGRESS_ADDRESSES,
    }
    return { status: 200, body }
  },
}
