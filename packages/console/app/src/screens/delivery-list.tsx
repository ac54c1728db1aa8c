import { Link } from '@tanstack/react-router'
import type { DeliverySummary } from '../api/model.ts'
import { deliveriesQuery } from '../api/queries.ts'
import { toneOfState } from '../rules/repair.ts'
import { count, outcomeLabel } from '../rules/words.ts'
import { DELIVERY_FILTERS, useFilters } from '../search-params.ts'
import { Choice, TextFilter } from '../ui/fields.tsx'
import { MomentFilter } from '../ui/moment-filter.tsx'
import { Button, Empty, QueryState, Status, Time } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { useList } from '../ui/use-list.ts'
import { EndpointLink } from './endpoint-link.tsx'

type DeliveryFilter = (typeof DELIVERY_FILTERS)[number]

/** Deliveries with filters. With a `subscriptionId`, those of one endpoint. */
export function DeliveryList({
  subscriptionId,
  filters: offered = DELIVERY_FILTERS,
}: {
  readonly subscriptionId?: string
  readonly filters?: readonly DeliveryFilter[]
}) {
  const [all, filter] = useFilters()
  const set = Object.fromEntries(offered.map((name) => [name, all[name]]))
  const chosen = { ...set, ...(subscriptionId !== undefined && { subscriptionId }) }
  const { query, rows, isEmpty, more } = useList(deliveriesQuery(chosen))
  const isFiltered = Object.values(set).some((value) => value !== undefined)
  const columns = subscriptionId === undefined ? COLUMNS : COLUMNS.filter(({ title }) => title !== 'Endpoint')
  return (
    <>
      <FilterBar offered={offered} values={all} onChange={filter} />
      <QueryState query={query} />
      {isEmpty && (
        <Empty title={isFiltered ? 'No delivery matches the filters.' : 'There are no deliveries.'}>
          {isFiltered && (
            <Button onClick={() => filter(Object.fromEntries(offered.map((name) => [name, ''])))}>
              Remove the filters
            </Button>
          )}
        </Empty>
      )}
      {(rows.length > 0 || more) && (
        <Table label="Deliveries" columns={columns} rows={rows} keyOf={({ deliveryId }) => deliveryId} more={more} />
      )}
    </>
  )
}

const STATES = [
  ['', 'Any'],
  ['pending', 'Pending'],
  ['waiting', 'Waiting'],
  ['held', 'Held'],
  ['acknowledged', 'Acknowledged'],
  ['parked', 'Parked'],
  ['withdrawn', 'Withdrawn'],
  ['expired', 'Expired'],
] as const

const OUTCOMES = [
  ['', 'Any'],
  ...[
    'delivered',
    'answered',
    'timeout',
    'dns',
    'refused',
    'tls',
    'reset',
    'network',
    'malformed',
    'blocked',
    'proxy',
  ].map((outcome) => [outcome, outcome] as const),
] as const

export const EVENT_TYPES = [
  ['', 'Any'],
  ...[
    'call.status',
    'agent.status',
    'webhook.endpoint.failing',
    'webhook.endpoint.recovered',
    'webhook.delivery.parked',
    'webhook.parked.limit',
    'webhook.held.limit',
  ].map((type) => [type, type] as const),
] as const

const REASONS = [
  ['', 'Any'],
  ['exhausted', 'Exhausted'],
  ['rejected', 'Rejected'],
] as const

function FilterBar({
  offered,
  values,
  onChange,
}: {
  readonly offered: readonly DeliveryFilter[]
  readonly values: Readonly<Record<string, string | undefined>>
  readonly onChange: (patch: Readonly<Record<string, string>>) => void
}) {
  const choice = (name: DeliveryFilter, label: string, options: readonly (readonly [string, string])[]) =>
    offered.includes(name) && (
      <Choice
        label={label}
        value={values[name] ?? ''}
        options={options}
        onChange={(value) => onChange({ [name]: value })}
      />
    )
  const text = (name: DeliveryFilter, label: string) =>
    offered.includes(name) && (
      <TextFilter label={label} value={values[name] ?? ''} onChange={(value) => onChange({ [name]: value.trim() })} />
    )
  return (
    <div className="filters">
      {choice('state', 'State', STATES)}
      {choice('outcome', 'Last outcome', OUTCOMES)}
      {text('status', 'Last status')}
      {choice('parkedReason', 'Parked because', REASONS)}
      {choice('eventType', 'Event type', EVENT_TYPES)}
      {text('agentUri', 'Agent')}
      {text('callId', 'Call')}
      {text('subscriptionId', 'Endpoint id')}
      {offered.includes('from') && (
        <MomentFilter label="From" value={values['from']} onChange={(from) => onChange({ from })} />
      )}
      {offered.includes('to') && <MomentFilter label="To" value={values['to']} onChange={(to) => onChange({ to })} />}
    </div>
  )
}

const COLUMNS: readonly Column<DeliverySummary>[] = [
  { title: 'Due', cell: ({ firstDueAt }) => <Time at={firstDueAt} /> },
  {
    title: 'Event',
    isWide: true,
    cell: ({ eventId, eventType, test }) => (
      <Link to="/events/$eventId" params={{ eventId }} className="row-link">
        {eventType}
        {test && <span className="tag">test</span>}
      </Link>
    ),
  },
  {
    title: 'Endpoint',
    isOptional: true,
    cell: ({ url, subscriptionId }) => <EndpointLink subscriptionId={subscriptionId} url={url} />,
  },
  { title: 'State', cell: ({ state }) => <Status tone={toneOfState(state)}>{state}</Status> },
  { title: 'Attempts', align: 'end', isOptional: true, cell: ({ attempts }) => count(attempts.length) },
  {
    title: 'Last result',
    cell: ({ attempts }) => {
      const last = attempts.at(-1)
      return last === undefined ? <span className="muted">–</span> : outcomeLabel(last.outcome, last.status)
    },
  },
  { title: 'Next attempt', isOptional: true, cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} ago /> },
]
