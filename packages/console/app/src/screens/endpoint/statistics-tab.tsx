import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Policy, Statistics, Subscription } from '../../api/model.ts'
import { policyQuery, statisticsQuery } from '../../api/queries.ts'
import { fillPoints } from '../../rules/fill-points.ts'
import { count, counted, duration } from '../../rules/words.ts'
import { useFilters } from '../../search-params.ts'
import { Choice } from '../../ui/fields.tsx'
import { Empty, Failure, Loading, Panel } from '../../ui/parts.tsx'
import { type Band, Plot, type Series } from '../../ui/plot.tsx'

/** Answer time beside the deadline, delay, and outcomes over time; cool-downs as bands. */
export function StatisticsTab({ subscription }: { readonly subscription: Subscription }) {
  const [{ hours = '1' }, filter] = useFilters()
  const { data, error, refetch } = useQuery(statisticsQuery(subscription.id, Number(hours) || 1))
  const { data: policy } = useQuery(policyQuery)
  return (
    <>
      <div className="filters">
        <Choice
          label="Period"
          value={hours}
          options={[
            ['1', 'Last hour'],
            ['6', 'Last 6 hours'],
            ['24', 'Last 24 hours'],
            ['168', 'Last 7 days'],
          ]}
          onChange={(hours) => filter({ hours: hours === '1' ? '' : hours })}
        />
      </div>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && !data.points.some(({ attempts }) => attempts > 0) && (
        <Empty title="Nothing was sent to this endpoint in this period." />
      )}
      {data?.points.some(({ attempts }) => attempts > 0) === true && (
        <Plots statistics={data} hours={Number(hours) || 1} policy={policy} subscription={subscription} />
      )}
    </>
  )
}

function Plots({
  statistics,
  hours,
  policy,
  subscription,
}: {
  readonly statistics: Statistics
  readonly hours: number
  readonly policy: Policy | undefined
  readonly subscription: Subscription
}) {
  const { step } = statistics
  const points = useMemo(() => fillPoints(statistics.points, step, hours, Date.now()), [statistics, step, hours])
  const times = useMemo(() => points.map(({ at }) => at), [points])
  const bands = useMemo(() => coolDownOf(subscription), [subscription])
  const answers = useMemo((): readonly Series[] => {
    const deadline = policy?.deliveryTimeoutMs
    return [
      { label: 'p50', values: points.map(({ answerMs }) => answerMs?.p50 ?? null), tone: 'quiet' },
      { label: 'p95', values: points.map(({ answerMs }) => answerMs?.p95 ?? null), tone: 'accent' },
      { label: 'p99', values: points.map(({ answerMs }) => answerMs?.p99 ?? null), tone: 'warn' },
      ...(deadline === undefined
        ? []
        : [{ label: 'Deadline', values: points.map(() => deadline), tone: 'bad', isDashed: true } as const]),
    ]
  }, [points, policy])
  const delays = useMemo(
    (): readonly Series[] => [
      { label: 'p50', values: points.map(({ delayMs }) => delayMs?.p50 ?? null), tone: 'quiet' },
      { label: 'p95', values: points.map(({ delayMs }) => delayMs?.p95 ?? null), tone: 'accent' },
    ],
    [points],
  )
  const outcomes = useMemo(
    (): readonly Series[] => [
      { label: 'Acknowledged', values: points.map(({ acknowledged }) => acknowledged), tone: 'accent', isFilled: true },
      { label: 'Failed', values: points.map(({ attempts, acknowledged }) => attempts - acknowledged), tone: 'bad' },
      { label: 'Parked', values: points.map(({ parked }) => parked), tone: 'warn' },
    ],
    [points],
  )
  const latest = points.findLast(({ answerMs }) => answerMs !== null)?.answerMs
  const per = step === '1m' ? 'minute' : 'hour'
  return (
    <>
      <Panel title={`Attempts per ${per}`}>
        <Plot times={times} series={outcomes} bands={bands} format={count} summary={attemptsSummary(points)} />
      </Panel>
      <Panel title="Answer time">
        <Plot
          times={times}
          series={answers}
          bands={bands}
          format={duration}
          summary={
            latest == null
              ? 'Answer time: no answer in this period.'
              : `Answer time: latest p95 ${duration(latest.p95)}, deadline ${duration(policy?.deliveryTimeoutMs ?? 0)}.`
          }
        />
      </Panel>
      <Panel title="From the event to its POST">
        <Plot
          times={times}
          series={delays}
          bands={bands}
          format={duration}
          summary="Time from the event to its POST."
        />
      </Panel>
    </>
  )
}

function attemptsSummary(points: Statistics['points']): string {
  const attempts = points.reduce((sum, point) => sum + point.attempts, 0)
  const acknowledged = points.reduce((sum, point) => sum + point.acknowledged, 0)
  return `${counted(attempts, 'attempt')}, ${count(acknowledged)} acknowledged.`
}

/** The current cool-down; the API keeps no history of them. */
function coolDownOf({ health }: Subscription): readonly Band[] {
  if (health.openUntil === null || health.lastFailureAt === null) return []
  return [{ fromMs: Date.parse(health.lastFailureAt), toMs: Date.parse(health.openUntil) }]
}
