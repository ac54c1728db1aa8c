import { Link } from '@tanstack/react-router'
import type { AuditEntry } from '../api/model.ts'
import { agentName } from '../rules/words.ts'
import { ShortId, Time } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { EndpointLink } from './endpoint-link.tsx'

/** Entries of the audit log. */
export const AuditTable = ({
  entries,
  more,
  isOfOneEndpoint = false,
}: {
  readonly isOfOneEndpoint?: boolean
  readonly entries: readonly AuditEntry[]
  readonly more?: { readonly isLoading: boolean; readonly load: () => void } | undefined
}) => (
  <Table
    label="Audit log"
    columns={isOfOneEndpoint ? COLUMNS.filter(({ title }) => title !== 'On') : COLUMNS}
    rows={entries}
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
      if (agentUri === undefined) return <span className="muted">–</span>
      const agent = <span title={agentUri}>{agentName(agentUri)}</span>
      if (callId === undefined) return agent
      return (
        <>
          {agent}{' '}
          <Link to="/events" search={{ q: callId }} className="row-link quiet">
            <ShortId value={callId} />
          </Link>
        </>
      )
    },
  },
  { title: 'From', isOptional: true, cell: ({ address }) => address ?? '–' },
]
