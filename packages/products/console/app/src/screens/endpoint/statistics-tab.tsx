import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Health, Percentiles, Statistics, Subscription } from '../../api/model.ts'
import { policyQuery, statisticsQuery } from '../../api/queries.ts'
import { answerTimeMs, fillPoints, sumOf } from '../../rules/statistics.ts'
import { count, counted, duration } from '../../rules/words.ts'
import { useFilters } from '../../search-params.ts'
import { ChoiceFilter } from '../../ui/filters.tsx'
import { Empty, Panel, QueryState } from '../../ui/parts.tsx'
import { attemptSeries, Plot } from '../../ui/plot.tsx'
import type { Band, Series } from '../../ui/plot-canvas.tsx'

const PERIODS = [
  ['', 'Last hour'],
  ['6', 'Last 6 hours'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const

export function StatisticsTab({ subscription }: { readonly subscription: Subscription }) {
  const [filters] = useFilters()
  const hours = Number(filters['hours']) || 1
  const query = useQuery(statisticsQuery(subscription.id, hours))
  const { data } = query
  return (
    <>
      <div className="filters">
        <ChoiceFilter name="hours" label="Period" options={PERIODS} />
      </div>
      <QueryState query={query} />
      {data !== undefined &&
        (sumOf(data.points, 'attempts') === 0 ? (
          <Empty title="Nothing was sent to this endpoint in this period." />
        ) : (
          <Plots statistics={data} hours={hours} state={subscription.health.state} />
        ))}
    </>
  )
}

interface PlotsProps {
  readonly statistics: Statistics
  readonly hours: number
  readonly state: Health['state']
}

function Plots({ statistics, hours, state }: PlotsProps) {
  const { data: policy } = useQuery(policyQuery)
  const deadlineMs = policy?.deliveryTimeoutMs
  const { step } = statistics
  const points = useMemo(() => fillPoints(statistics.points, step, hours, Date.now()), [statistics, step, hours])
  // A plot draws itself again if one of these is another object.
  const { times, bands, attempts, answers, delays } = useMemo(
    () => ({
      times: points.map(({ at }) => at),
      bands: bandsOf(statistics, state, Date.now()),
      attempts: [
        ...attemptSeries(points),
        { label: 'Parked', values: points.map(({ parked }) => parked), colour: 'warn' } as const,
      ],
      answers: answerSeries(points, deadlineMs),
      delays: [
        { label: 'p50', values: points.map(({ delayMs }) => delayMs?.p50 ?? null), colour: 'line-strong' } as const,
        { label: 'p95', values: points.map(({ delayMs }) => delayMs?.p95 ?? null), colour: 'accent' } as const,
      ],
    }),
    [points, statistics, state, deadlineMs],
  )
  const latest = points.findLast(({ answerMs }) => answerMs !== null)?.answerMs
  const per = step === '1m' ? 'minute' : 'hour'
  return (
    <>
      <Panel title={`Attempts per ${per}`}>
        <Plot times={times} series={attempts} bands={bands} unit="count" summary={attemptsSummary(points, bands)} />
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
              : `Answer time: latest p95 ${duration(answerTimeMs(latest.p95, deadlineMs))}, deadline ${duration(deadlineMs ?? 0)}.`
          }
        />
      </Panel>
      <Panel title="From the event to its POST">
        <Plot times={times} series={delays} bands={bands} unit="duration" summary="Time from the event to its POST." />
      </Panel>
    </>
  )
}

function answerSeries(points: Statistics['points'], deadlineMs: number | undefined): readonly Series[] {
  const timesOf = (name: keyof Percentiles) =>
    points.map(({ answerMs }) => (answerMs === null ? null : answerTimeMs(answerMs[name], deadlineMs)))
  const answers: readonly Series[] = [
    { label: 'p50', values: timesOf('p50'), colour: 'line-strong' },
    { label: 'p95', values: timesOf('p95'), colour: 'accent' },
    { label: 'p99', values: timesOf('p99'), colour: 'warn' },
  ]
  if (deadlineMs === undefined) return answers
  return [...answers, { label: 'Deadline', values: points.map(() => deadlineMs), colour: 'bad', isDashed: true }]
}

function attemptsSummary(points: Statistics['points'], coolDowns: readonly Band[]): string {
  const acknowledged = sumOf(points, 'acknowledged')
  return `${counted(sumOf(points, 'attempts'), 'attempt')}, ${count(acknowledged)} acknowledged, ${counted(coolDowns.length, 'cool-down')}.`
}

/** The cool-downs. One that an answer has ended before its time ends now at the latest. */
const bandsOf = ({ coolDowns }: Statistics, state: Health['state'], nowMs: number): readonly Band[] =>
  coolDowns.map(({ from, until }) => ({
    fromMs: Date.parse(from),
    toMs: state === 'open' ? Date.parse(until) : Math.min(Date.parse(until), nowMs),
  }))
