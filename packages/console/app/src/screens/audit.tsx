import { auditQuery } from '../api/queries.ts'
import { useFilters } from '../search-params.ts'
import { ChoiceFilter, PeriodFilters, TextFilter } from '../ui/filters.tsx'
import { Empty, QueryState, Screen } from '../ui/parts.tsx'
import { useList } from '../ui/use-list.ts'
import { AuditTable } from './audit-table.tsx'

const LISTS = [
  ['', 'Everything'],
  ['webhooks', 'Changes and sendings'],
  ['commands', 'Calls and presence'],
] as const

/** Who changed, sent or commanded what. */
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
