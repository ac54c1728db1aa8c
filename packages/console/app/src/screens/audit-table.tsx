import type { AuditEntry } from '../api/model.ts'
import { Time } from '../ui/parts.tsx'
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
    columns={isOfOneEndpoint ? COLUMNS.filter(({ title }) => title !== 'Endpoint') : COLUMNS}
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
    title: 'Endpoint',
    isOptional: true,
    cell: ({ on }) => {
      const subscriptionId = on['subscriptionId']
      return subscriptionId === undefined ? (
        <span className="muted">–</span>
      ) : (
        <EndpointLink subscriptionId={subscriptionId} />
      )
    },
  },
  { title: 'From', isOptional: true, cell: ({ address }) => address ?? '–' },
]
