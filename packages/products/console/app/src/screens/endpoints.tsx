import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { SummaryItem } from '../api/model.ts'
import { endpointsQuery, FIRST_ENDPOINTS } from '../api/queries.ts'
import { endpointName, endpointState } from '../rules/endpoints.ts'
import { count, outcomeLabel, RANK_OF_TONE, shortUrl } from '../rules/words.ts'
import { useFilters } from '../search-params.ts'
import { RoleButton } from '../ui/action.tsx'
import { ChoiceFilter, TextFilter } from '../ui/filters.tsx'
import { Button, Empty, QueryState, Screen, Status, Time } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { CreateDialog } from './endpoint/create-dialog.tsx'

const SHOWN = [
  ['', 'All'],
  ['ill', 'Ill or with parked deliveries'],
  ['disabled', 'Disabled'],
] as const

export function Endpoints() {
  const [{ q = '', show, most = '' }, filter] = useFilters()
  const limit = Math.max(FIRST_ENDPOINTS, Number(most) || 0)
  const navigate = useNavigate()
  const [isCreating, setCreating] = useState(false)
  const query = useQuery(endpointsQuery(limit))
  const { data, isPlaceholderData } = query
  const rows = (data?.items ?? []).filter((item) => matches(item, q, show)).toSorted((a, b) => rank(a) - rank(b))
  return (
    <Screen
      title="Endpoints"
      lead="Each endpoint is one subscription: a URL and the event types that it receives."
      actions={
        <RoleButton kind="primary" needs="admin" onClick={() => setCreating(true)}>
          Add an endpoint
        </RoleButton>
      }
    >
      <div className="filters">
        <TextFilter name="q" label="URL or description" />
        <ChoiceFilter name="show" label="Show" options={SHOWN} />
      </div>
      <QueryState query={query} />
      {data !== undefined && rows.length === 0 && (
        <Empty title={data.items.length === 0 ? 'There is no endpoint yet.' : 'No endpoint matches the filters.'}>
          {data.items.length === 0 && 'Add one to receive call and agent events.'}
        </Empty>
      )}
      <Table label="Endpoints" columns={COLUMNS} rows={rows} keyOf={({ subscriptionId }) => subscriptionId} />
      {data?.isComplete === false && (
        <div className="more-endpoints muted" role="status">
          <p>The list and its filters have the {count(data.items.length)} oldest endpoints. There are more.</p>
          <Button isBusy={isPlaceholderData} onClick={() => filter({ most: String(limit + FIRST_ENDPOINTS) })}>
            {isPlaceholderData ? 'Loading…' : `Load ${count(FIRST_ENDPOINTS)} more`}
          </Button>
        </div>
      )}
      {isCreating && (
        <CreateDialog
          onClose={() => setCreating(false)}
          onCreated={(subscriptionId) =>
            void navigate({ to: '/endpoints/$subscriptionId', params: { subscriptionId }, search: { tab: 'check' } })
          }
        />
      )}
    </Screen>
  )
}

function matches(item: SummaryItem, q: string, show: string | undefined): boolean {
  const fits = `${shortUrl(item.url)} ${item.description ?? ''}`.toLowerCase().includes(q.toLowerCase())
  if (show === 'ill') return fits && (item.parked > 0 || ['bad', 'warn'].includes(endpointState(item).tone))
  return fits && (show !== 'disabled' || !item.enabled)
}

const rank = (item: SummaryItem): number => RANK_OF_TONE[endpointState(item).tone] - (item.parked > 0 ? 0.5 : 0)

const COLUMNS: readonly Column<SummaryItem>[] = [
  {
    title: 'Endpoint',
    isWide: true,
    cell: (item) => (
      <Link
        to="/endpoints/$subscriptionId"
        params={{ subscriptionId: item.subscriptionId }}
        className="row-link"
        title={item.url ?? ''}
      >
        {endpointName(item)}
        {item.description && <span className="muted"> {shortUrl(item.url)}</span>}
      </Link>
    ),
  },
  {
    title: 'State',
    cell: (item) => {
      const { tone, label } = endpointState(item)
      return <Status tone={tone}>{label}</Status>
    },
  },
  { title: 'Waiting', align: 'end', isOptional: true, cell: ({ waiting }) => count(waiting) },
  {
    title: 'Held',
    align: 'end',
    isOptional: true,
    cell: ({ held, oldestHeldAt }) => (
      <>
        {count(held)}
        {oldestHeldAt !== null && (
          <span className="muted">
            {' '}
            <Time at={oldestHeldAt} ago />
          </span>
        )}
      </>
    ),
  },
  {
    title: 'Parked',
    align: 'end',
    cell: ({ parked }) => <span className={parked > 0 ? 'bad-text' : ''}>{count(parked)}</span>,
  },
  {
    title: 'Last failure',
    isOptional: true,
    cell: ({ health }) =>
      health.lastFailureAt && (
        <>
          {outcomeLabel(health.lastFailureOutcome, health.lastFailureStatus)}, <Time at={health.lastFailureAt} ago />
        </>
      ),
  },
  { title: 'Last success', isOptional: true, cell: ({ health }) => <Time at={health.lastSuccessAt} ago /> },
]
