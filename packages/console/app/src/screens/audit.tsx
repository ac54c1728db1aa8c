import { auditQuery } from '../api/queries.ts'
import { useFilters } from '../search-params.ts'
import { Choice, TextFilter } from '../ui/fields.tsx'
import { MomentFilter } from '../ui/moment-filter.tsx'
import { Empty, QueryState, Screen } from '../ui/parts.tsx'
import { useList } from '../ui/use-list.ts'
import { AuditTable } from './audit-table.tsx'

/** Who changed, sent or commanded what. */
export function Audit() {
  const [{ list, action, from, to }, filter] = useFilters()
  const { query, rows: entries, isEmpty, more } = useList(auditQuery({ list, action, from, to }))
  return (
    <Screen title="Audit" lead="Every change, every sending and every command, with who did it and from where.">
      <div className="filters">
        <Choice
          label="Show"
          value={list ?? ''}
          options={[
            ['', 'Everything'],
            ['webhooks', 'Changes and sendings'],
            ['commands', 'Calls and presence'],
          ]}
          onChange={(list) => filter({ list })}
        />
        <TextFilter
          label="Action"
          value={action ?? ''}
          placeholder="subscription.changed"
          onChange={(action) => filter({ action: action.trim() })}
        />
        <MomentFilter label="From" value={from} onChange={(from) => filter({ from })} />
        <MomentFilter label="To" value={to} onChange={(to) => filter({ to })} />
      </div>
      <QueryState query={query} />
      {isEmpty && <Empty title="No entry matches." />}
      {(entries.length > 0 || more) && <AuditTable entries={entries} more={more} />}
    </Screen>
  )
}
