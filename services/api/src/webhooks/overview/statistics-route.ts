import { AppError, parseSubscriptionId } from '@switchhook/contracts'
import { OUTCOME_CODES, STATISTICS_STEPS, type StatisticsStep } from '@switchhook/store'
import { rangeOf } from '../../http/read-range.ts'
import { type RouteOf, searches } from '../../http/route.ts'
import { choice, completeComponent, count, flag, list, moment, type QueryOf } from '../../http/schema.ts'
import { momentOf } from '../moment.ts'
import type { WebhookParts } from '../stores.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'

const STEPS = Object.keys(STATISTICS_STEPS) as StatisticsStep[]

/** Length of the answer without `from`. */
const DEFAULT_POINTS: Readonly<Record<StatisticsStep, number>> = { '1m': 60, '1h': 24 }

const percentile = (share: string, example: number) =>
  ({
    type: 'number',
    minimum: 0,
    description: `${share} of the values are at most this, in ms.`,
    examples: [example],
  }) as const

const percentilesSchema = completeComponent(
  'Percentiles',
  'Percentiles in ms, estimated from a histogram. Between 1 ms and 10 s an estimate is within a factor of 2.5 of the true value; the buckets above are wider.',
  { p50: percentile('50 %', 31), p95: percentile('95 %', 120.5), p99: percentile('99 %', 410) },
)

const percentilesOrNull = (description: string) => ({ description, oneOf: [percentilesSchema, { type: 'null' }] })

const pointSchema = completeComponent('StatisticsPoint', 'One minute or hour.', {
  at: moment('When the minute or hour begins, in UTC.'),
  attempts: count('POSTs made, including tests and redeliveries.', 120),
  acknowledged: count('Attempts that were answered with a 2xx.', 118),
  byOutcome: {
    type: 'object',
    description:
      'The attempts by outcome, without zeros: `delivered` (a 2xx), a frequent status such as `503`, the class of any other status such as `4xx`, or the ' +
      'outcome of an attempt without an answer, such as `timeout`.',
    propertyNames: { enum: OUTCOME_CODES },
    additionalProperties: { type: 'integer', minimum: 1 },
    examples: [{ delivered: 118, '503': 1, timeout: 1 }],
  },
  parked: count('Deliveries that were parked.', 0),
  expired: count('Deliveries that expired (`expireAfterSeconds`).', 0),
  answerMs: percentilesOrNull(
    'From the start of an attempt to its answer. An attempt that timed out counts with its whole wait; other attempts without an answer do not count. ' +
      'null: there was none.',
  ),
  delayMs: percentilesOrNull(
    'From the event to the start of the first attempt of each of its deliveries. null: there was none.',
  ),
})

const statisticsSchema = completeComponent(
  'Statistics',
  'What happened to the deliveries of a subscription, or of the whole tenant, over time.',
  {
    step: choice(STEPS, 'The period of each point.', '1m'),
    isCounted: flag(
      'false: this subscription has no statistics at the moment, because as many other subscriptions of the tenant as can have them were active in ' +
        'the last hour.',
      true,
    ),
    points: list(
      'The minutes or hours in which anything happened, the oldest first. The others are left out.',
      pointSchema,
    ),
    coolDowns: list(
      'When the endpoint was not contacted because it kept failing, the oldest first: the periods of the last 30 days that touch the range, at most ' +
        'the latest 100. Empty without `subscriptionId`.',
      completeComponent(
        'CoolDownPeriod',
        'One cool-down, or several that followed each other because the endpoint failed each probe.',
        {
          from: moment('When the first cool-down began, in UTC.'),
          until: moment(
            'When the last cool-down ends, in UTC. An answer of the endpoint can end it sooner.',
            '2026-11-20T17:06:31.173Z',
          ),
        },
      ),
      { maxItems: 100 },
    ),
  },
)

const query = {
  subscriptionId: { ...subscriptionIdSchema, description: 'Only this subscription. Absent: the whole tenant.' },
  from: moment(
    'From the minute or hour that holds this time on. By default an hour (`step=1m`) or a day (`step=1h`) before `to`.',
    '2026-11-20T17:00:00Z',
  ),
  to: moment('Before this time. By default now.', '2026-11-20T18:00:00Z'),
  step: {
    ...choice(STEPS, '`1m`: by minute, kept for 24 hours. `1h`: by hour, kept for 30 days.', '1h'),
    default: '1m',
  },
}

export const readStatistics: RouteOf<
  Pick<WebhookParts, 'statistics' | 'coolDowns' | 'now'>,
  undefined,
  QueryOf<typeof query>
> = {
  ...searches('deliveries'),
  path: '/api/v1/webhooks/statistics',
  operationId: 'readStatistics',
  summary: 'Read statistics of deliveries',
  description:
    'Returns attempts, outcomes, parked and expired deliveries, answer times and delays by minute or hour, and the cool-downs of a subscription. Figures are written every ten seconds. A worker that dies ' +
    'loses the last seconds, so do not bill by them. By default the latest active 500 subscriptions of a tenant have figures of their own. A deleted ' +
    'subscription keeps its figures.',
  query,
  responses: { 200: { description: 'The statistics.', body: statisticsSchema } },
  async handle({ caller: { tenant }, query: { subscriptionId, step, ...window } }, { statistics, coolDowns, now }) {
    const nowMs = now()
    const { toMs = nowMs, fromMs = toMs - DEFAULT_POINTS[step] * STATISTICS_STEPS[step].stepMs } = rangeOf(window)
    if (fromMs >= toMs)
      throw new AppError('invalid-request', { errors: [{ pointer: '/from', detail: 'is in the future' }] })
    const id = subscriptionId === undefined ? null : parseSubscriptionId(subscriptionId)
    const [points, isCounted, periods] = await Promise.all([
      statistics.points(tenant, id, { step, fromMs, toMs, nowMs }),
      id === null || statistics.isCounted(tenant, id),
      id === null ? [] : coolDowns.between({ tenant, subscriptionId: id }, { fromMs, toMs }),
    ])
    const body = {
      step,
      isCounted,
      points: points.map(({ atMs, ...figures }) => ({ at: momentOf(atMs), ...figures })),
      coolDowns: periods.map((period) => ({ from: momentOf(period.fromMs), until: momentOf(period.untilMs) })),
    }
    return { status: 200, body }
  },
}
