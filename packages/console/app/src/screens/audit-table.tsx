import type { AuditEntry } from '../api/model.ts'
import { Time } from '../ui/parts.tsx'
import { type Column, Table, type TableProps } from '../ui/table.tsx'
import { Agent, CallLink, EndpointLink } from './links.tsx'

interface AuditTableProps extends Pick<TableProps<AuditEntry>, 'rows' | 'more'> {
  readonly isOfOneEndpoint?: boolean
}

/** Entries of the audit log. */
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
