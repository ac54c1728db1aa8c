import type { Page } from '@switchhook/client'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ListQuery } from '../api/queries.ts'

export function useList<P extends Page>(options: ListQuery<P>) {
  const query = useInfiniteQuery(options)
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const rows: readonly P['items'][number][] = data?.pages.flatMap(({ items }) => items) ?? []
  return {
    query,
    rows,
    /** There are no rows, and no page that could have some. */
    isEmpty: data !== undefined && rows.length === 0 && !hasNextPage,
    more: hasNextPage ? { isLoading: isFetchingNextPage, load: () => void fetchNextPage() } : undefined,
  }
}
