import type { AuditEntry } from '../api/model.ts'
import { auditQuery } from '../api/queries.ts'
import { useFilters } from '../search-params.ts'
import { ChoiceFilter, PeriodFilters, TextFilter } from '../ui/filters.tsx'
import { Empty, QueryState, Screen, Time } from '../ui/parts.tsx'
import { type Column, Table, type TableProps, useList } from '../ui/table.tsx'
import { Agent, CallLink, EndpointLink } from './links.tsx'

const LISTS = [
  ['', 'Everything'],
  ['webhooks', 'Changes and sendings'],
  ['commands', 'Calls and presence'],
] as const

export function Audit() {
  const [{ list, action, from, to }] = useFilters()
  const { query, rows, isEmpty, more } = useList(auditQuery({ list, action, from, to }))
  return (
    <Screen title="Audit" lead="Every change, every sending and every command, with who did it and from where.">
      <div className="filters">
        <ChoiceFilter name="list" label="Show" options={LISTS} />
        <TextFilter name="action" label="Action" placeholder="subscription.changed" />
        <PeriodFilters />
      </div>
      <QueryState query={query} />
      {isEmpty && <Empty title="No entry matches." />}
      <AuditTable rows={rows} more={more} />
    </Screen>
  )
}

interface AuditTableProps extends Pick<TableProps<AuditEntry>, 'rows' | 'more'> {
  readonly isOfOneEndpoint?: boolean
}

export const AuditTable = ({ rows, more, isOfOneEndpoint = false }: AuditTableProps) => (
  <Table
    label="Audit log"
    columns={isOfOneEndpoint ? COLUMNS.filter(({ title }) => title !== 'On') : COLUMNS}
    rows={rows}
    keyOf={({ id }) => id}
    more={more}
  />
)

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: 'When', cell: ({ at }) => <Time at={at} /> },
  { title: 'Who', cell: ({ subject, clientId }) => <span title={clientId}>{subject ?? clientId}</span> },
  {
    title: 'What',
    isWide: true,
    cell: ({ action, fields }) => (
      <>
        {action}
        {fields.length > 0 && <span className="muted"> {fields.join(', ')}</span>}
      </>
    ),
  },
  {
    title: 'On',
    isOptional: true,
    cell: ({ on: { subscriptionId, agentUri, callId } }) => {
      if (subscriptionId !== undefined) return <EndpointLink subscriptionId={subscriptionId} />
      if (agentUri === undefined) return null
      return (
        <>
          <Agent agentUri={agentUri} /> {callId !== undefined && <CallLink callId={callId} />}
        </>
      )
    },
  },
  { title: 'From', isOptional: true, cell: ({ address }) => address ?? '–' },
]
