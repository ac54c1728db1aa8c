import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Health, Percentiles, Policy, Statistics, Subscription } from '../../api/model.ts'
import { policyQuery, statisticsQuery } from '../../api/queries.ts'
import { answerTimeMs, fillPoints } from '../../rules/fill-points.ts'
import { count, counted, duration } from '../../rules/words.ts'
import { useFilters } from '../../search-params.ts'
import { ChoiceFilter } from '../../ui/filters.tsx'
import { Empty, Panel, QueryState } from '../../ui/parts.tsx'
import { Plot } from '../../ui/plot.tsx'
import type { Band, Series } from '../../ui/plot-props.ts'

const PERIODS = [
  ['', 'Last hour'],
  ['6', 'Last 6 hours'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const

/** Answer time compared with the deadline, delay, and outcomes over time; cool-downs as bands. */
export function StatisticsTab({ subscription }: { readonly subscription: Subscription }) {
  const [filters] = useFilters()
  const hours = Number(filters['hours']) || 1
  const query = useQuery(statisticsQuery(subscription.id, hours))
  const { data } = query
  const { data: policy } = useQuery(policyQuery)
  return (
    <>
      <div className="filters">
        <ChoiceFilter name="hours" label="Period" options={PERIODS} />
      </div>
      <QueryState query={query} />
      {data !== undefined && !data.points.some(({ attempts }) => attempts > 0) && (
        <Empty title="Nothing was sent to this endpoint in this period." />
      )}
      {data?.points.some(({ attempts }) => attempts > 0) === true && (
        <Plots statistics={data} hours={hours} policy={policy} subscription={subscription} />
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
  const { state } = subscription.health
  const bands = useMemo(() => bandsOf(statistics, state, Date.now()), [statistics, state])
  const answers = useMemo((): readonly Series[] => {
    const deadline = policy?.deliveryTimeoutMs
    const timesOf = (name: keyof Percentiles) =>
      points.map(({ answerMs }) => (answerMs === null ? null : answerTimeMs(answerMs[name], deadline)))
    return [
      { label: 'p50', values: timesOf('p50'), tone: 'quiet' },
      { label: 'p95', values: timesOf('p95'), tone: 'accent' },
      { label: 'p99', values: timesOf('p99'), tone: 'warn' },
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
        <Plot times={times} series={outcomes} bands={bands} unit="count" summary={attemptsSummary(points, bands)} />
      </Panel>
      <Panel title="Answer time">
        <Plot
          times={times}
          series={answers}
          bands={bands}
          unit="duration"
          summary={
            latest == null
              ? 'Answer time: no answer in this period.'
              : `Answer time: latest p95 ${duration(answerTimeMs(latest.p95, policy?.deliveryTimeoutMs))}, deadline ${duration(policy?.deliveryTimeoutMs ?? 0)}.`
          }
        />
      </Panel>
      <Panel title="From the event to its POST">
        <Plot times={times} series={delays} bands={bands} unit="duration" summary="Time from the event to its POST." />
      </Panel>
    </>
  )
}

function attemptsSummary(points: Statistics['points'], coolDowns: readonly Band[]): string {
  const attempts = points.reduce((sum, point) => sum + point.attempts, 0)
  const acknowledged = points.reduce((sum, point) => sum + point.acknowledged, 0)
  return `${counted(attempts, 'attempt')}, ${count(acknowledged)} acknowledged, ${counted(coolDowns.length, 'cool-down')}.`
}

/** The cool-downs. One that an answer has ended before its time ends now at the latest. */
const bandsOf = ({ coolDowns }: Statistics, state: Health['state'], nowMs: number): readonly Band[] =>
  coolDowns.map(({ from, until }) => ({
    fromMs: Date.parse(from),
    toMs: state === 'open' ? Date.parse(until) : Math.min(Date.parse(until), nowMs),
  }))
