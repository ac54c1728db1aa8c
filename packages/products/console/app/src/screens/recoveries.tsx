import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Recovery } from '../api/model.ts'
import { recoveriesQuery } from '../api/queries.ts'
import { toneOfState } from '../rules/tone.ts'
import { count } from '../rules/words.ts'
import { Empty, QueryState, Screen, Status, Time } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { EndpointLink } from './links.tsx'

export function Recoveries() {
  const query = useQuery(recoveriesQuery)
  const { data } = query
  return (
    <Screen title="Recoveries" lead="A recovery sends parked deliveries again; a backfill sends earlier events.">
      <QueryState query={query} />
      {data?.items.length === 0 && (
        <Empty title="There was no recovery yet.">
          Start one from <Link to="/parked">parked deliveries</Link> or from an endpoint.
        </Empty>
      )}
      <Table label="Recoveries" columns={COLUMNS} rows={data?.items ?? []} keyOf={({ recoveryId }) => recoveryId} />
    </Screen>
  )
}

const COLUMNS: readonly Column<Recovery>[] = [
  {
    title: 'Started',
    cell: ({ recoveryId, startedAt }) => (
      <Link to="/recoveries/$recoveryId" params={{ recoveryId }} className="row-link">
        <Time at={startedAt} />
      </Link>
    ),
  },
  { title: 'Endpoint', isWide: true, cell: ({ subscriptionId }) => <EndpointLink subscriptionId={subscriptionId} /> },
  { title: 'Kind', isOptional: true, cell: ({ kind }) => kind ?? 'recovery' },
  { title: 'State', cell: ({ state }) => <Status tone={toneOfState(state)}>{state}</Status> },
  { title: 'Sent', align: 'end', cell: ({ sent }) => count(sent) },
  { title: 'Remaining', align: 'end', isOptional: true, cell: ({ remaining }) => count(remaining) },
]
