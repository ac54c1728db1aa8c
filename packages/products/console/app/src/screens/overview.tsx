import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Statistics } from '../api/model.ts'
import {
  type Endpoints,
  parkedQuery,
  policyQuery,
  recoveriesQuery,
  statisticsQuery,
  summaryQuery,
} from '../api/queries.ts'
import { type Attention, attentionOf } from '../rules/endpoints.ts'
import { answerTimeMs, fillPoints, sumOf } from '../rules/statistics.ts'
import { count, counted, duration } from '../rules/words.ts'
import { Empty, Panel, QueryState, Screen, Status, Tile, TimeAfter } from '../ui/parts.tsx'
import { attemptSeries, Plot } from '../ui/plot.tsx'

const HOURS = 1

export function Overview() {
  const summary = useQuery(summaryQuery)
  const parked = useQuery(parkedQuery)
  const recoveries = useQuery(recoveriesQuery)
  const statistics = useQuery(statisticsQuery(undefined, HOURS))
  const attention = useMemo(
    () => attentionOf(summary.data?.items ?? [], parked.data?.items ?? [], recoveries.data?.items ?? []),
    [summary.data, parked.data, recoveries.data],
  )
  return (
    <Screen title="Overview" lead={summary.data && <Headline summary={summary.data} attention={attention} />}>
      <QueryState query={summary} />
      {summary.data?.items.length === 0 && (
        <Empty title="There is no endpoint yet.">
          <Link to="/endpoints">Add an endpoint</Link> to receive call and agent events.
        </Empty>
      )}
      {attention.length > 0 && (
        <Panel title="Needs attention">
          <ul className="attention">
            {attention.map((entry) => (
              <AttentionItem key={entry.recoveryId ?? entry.subscriptionId} entry={entry} />
            ))}
          </ul>
        </Panel>
      )}
      {summary.data && <Tiles items={summary.data.items} points={statistics.data?.points ?? []} />}
      {statistics.data && <Traffic statistics={statistics.data} />}
    </Screen>
  )
}

function Headline({ summary, attention }: { readonly summary: Endpoints; readonly attention: readonly Attention[] }) {
  const total = summary.items.length
  if (total === 0) return null
  const endpoints = counted(total, 'endpoint')
  if (attention.length === 0)
    return (
      <Status tone="good">
        {total === 1 ? 'The endpoint works.' : `${summary.isComplete ? 'All' : 'The first'} ${endpoints} work.`}
      </Status>
    )
  const ill = new Set(attention.map(({ subscriptionId }) => subscriptionId)).size
  return (
    <Status tone="bad">
      {count(ill)} of {summary.isComplete ? '' : 'the first '}
      {endpoints} {ill === 1 ? 'needs' : 'need'} attention.
    </Status>
  )
}

const AttentionItem = ({ entry }: { readonly entry: Attention }) => (
  <li className={entry.tone}>
    <div>
      <Link to="/endpoints/$subscriptionId" params={{ subscriptionId: entry.subscriptionId }} className="title">
        {entry.title}
      </Link>
      <p>{entry.detail}</p>
    </div>
    <div className="since">
      <TimeAfter words="since" at={entry.since} />
    </div>
    <div className="next">
      {entry.recoveryId !== undefined ? (
        <Link to="/recoveries/$recoveryId" params={{ recoveryId: entry.recoveryId }} className="button plain">
          Show the recovery
        </Link>
      ) : entry.parked > 0 ? (
        <Link to="/parked" className="button plain">
          Show parked
        </Link>
      ) : (
        <Link
          to="/endpoints/$subscriptionId"
          params={{ subscriptionId: entry.subscriptionId }}
          search={entry.isPull ? {} : { tab: 'check' }}
          className="button plain"
        >
          {entry.isPull ? 'Show' : 'Check'}
        </Link>
      )}
    </div>
  </li>
)

function Tiles({ items, points }: Pick<Endpoints, 'items'> & Pick<Statistics, 'points'>) {
  const { data: policy } = useQuery(policyQuery)
  const attempts = sumOf(points, 'attempts')
  const acknowledged = sumOf(points, 'acknowledged')
  const answer = points.findLast(({ answerMs }) => answerMs !== null)?.answerMs
  const delay = points.findLast(({ delayMs }) => delayMs !== null)?.delayMs
  const held = sumOf(items, 'held')
  const parked = sumOf(items, 'parked')
  return (
    <dl className="tiles">
      <Tile label="Attempts" value={count(attempts)} note="last hour" />
      <Tile
        label="Acknowledged"
        value={attempts === 0 ? '–' : `${((100 * acknowledged) / attempts).toFixed(1)} %`}
        note="last hour"
      />
      <Tile
        label="Answer time"
        value={answer == null ? '–' : duration(answerTimeMs(answer.p95, policy?.deliveryTimeoutMs))}
        note="p95, latest"
      />
      <Tile label="Event to POST" value={delay == null ? '–' : duration(delay.p95)} note="p95, latest" />
      <Tile
        label="Waiting"
        value={count(sumOf(items, 'waiting'))}
        note={held > 0 ? `for a retry; ${count(held)} held` : 'for a retry'}
      />
      <Tile label="Parked" value={count(parked)} note="no longer retried" tone={parked > 0 ? 'bad' : 'quiet'} />
    </dl>
  )
}

function Traffic({ statistics }: { readonly statistics: Statistics }) {
  const points = useMemo(() => fillPoints(statistics.points, statistics.step, HOURS, Date.now()), [statistics])
  const plot = useMemo(() => ({ times: points.map(({ at }) => at), series: attemptSeries(points) }), [points])
  if (statistics.points.length === 0) return null
  const failed = sumOf(points, 'attempts') - sumOf(points, 'acknowledged')
  return (
    <Panel title="Attempts per minute">
      <Plot {...plot} unit="count" summary={`Attempts per minute in the last hour; ${count(failed)} failed.`} />
    </Panel>
  )
}
