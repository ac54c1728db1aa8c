import { useInfiniteQuery } from '@tanstack/react-query'
import { auditQuery } from '../api/queries.ts'
import { useFilters } from '../search-params.ts'
import { Choice, TextFilter } from '../ui/fields.tsx'
import { MomentFilter } from '../ui/moment-filter.tsx'
import { Empty, Failure, Loading, Screen } from '../ui/parts.tsx'
import { AuditTable } from './audit-table.tsx'

/** Who changed, sent or commanded what. */
export function Audit() {
  const [{ list, action, from, to }, filter] = useFilters()
  const query = useInfiniteQuery(auditQuery({ list, action, from, to }))
  const entries = query.data?.pages.flatMap(({ items }) => items) ?? []
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
      {query.error && <Failure error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Loading />}
      {query.data && entries.length === 0 && !query.hasNextPage && <Empty title="No entry matches." />}
      {(entries.length > 0 || query.hasNextPage) && (
        <AuditTable
          entries={entries}
          more={
            query.hasNextPage
              ? { isLoading: query.isFetchingNextPage, load: () => void query.fetchNextPage() }
              : undefined
          }
        />
      )}
    </Screen>
  )
}
