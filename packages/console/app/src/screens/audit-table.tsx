import { Link } from '@tanstack/react-router'
import type { AuditEntry } from '../api/model.ts'
import { Time } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'

/** Entries of the audit log. */
export const AuditTable = ({
  entries,
  more,
}: {
  readonly entries: readonly AuditEntry[]
  readonly more?: { readonly isLoading: boolean; readonly load: () => void } | undefined
}) => <Table label="Audit log" columns={COLUMNS} rows={entries} keyOf={({ id }) => id} more={more} />

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
        <Link to="/endpoints/$subscriptionId" params={{ subscriptionId }} className="row-link quiet">
          <code>{subscriptionId}</code>
        </Link>
      )
    },
  },
  { title: 'From', isOptional: true, cell: ({ address }) => address ?? '–' },
]
