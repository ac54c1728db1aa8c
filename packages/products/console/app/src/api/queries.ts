import type { CallOptions, Page, Pages } from '@switchhook/client'
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { endpointName } from '../rules/endpoints.ts'
import type { Filters } from '../search-params.ts'
import { client } from './client.ts'
import type { SummaryItem } from './model.ts'

/** The first part of a key says what makes it old: `delivery` and `voice` follow the stream, `setup` hardly changes. */

/** The stream says what has changed; this is for what it does not report, such as a cool-down that ends. */
const REFRESH_MS = 15_000

const PAGE_SIZE = 100

/** Lists can have empty pages with a cursor: the reader goes on until it has rows or the end, a few pages at a time. */
const PAGES_AT_ONCE = 5

/** A longer list, in pages, is not read again with each message of the stream. */
const SHORT_PAGES = 5
const LONG_LIST_REFRESH_MS = 120_000

/** @param data of any query */
export const isLongList = (data: unknown): boolean =>
  ((data as { readonly pages?: readonly unknown[] } | null | undefined)?.pages?.length ?? 0) > SHORT_PAGES

/** @param name with `filters`, it identifies the query in the cache */
const pages = <P extends Page>(
  group: 'delivery' | 'voice' | 'setup',
  name: string,
  filters: Filters,
  list: (query: object, options: CallOptions) => Pages<P>,
) =>
  infiniteQueryOptions({
    queryKey: [group, name, filters],
    queryFn: async ({ pageParam, signal }) => {
      const read = (cursor: string | undefined) => list({ ...filters, limit: PAGE_SIZE, cursor }, { signal }).page()
      let page = await read(pageParam)
      for (let n = 1; n < PAGES_AT_ONCE && page.items.length === 0 && page.nextCursor !== null; n++)
        page = await read(page.nextCursor)
      return page
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    // To read a list again is one request for each of its pages.
    refetchInterval: ({ state: { data } }) =>
      group !== 'setup' && (isLongList(data) ? LONG_LIST_REFRESH_MS : REFRESH_MS),
  })

export type ListQuery<P extends Page> = ReturnType<typeof pages<P>>

type Read<T> = (options: CallOptions) => Promise<T>

const setup = <T>(name: string, read: Read<T>) =>
  queryOptions({ queryKey: ['setup', name], queryFn: ({ signal }) => read({ signal }), staleTime: 300_000 })

const live = <T>(name: string, read: Read<T>) =>
  queryOptions({ queryKey: ['delivery', name], queryFn: ({ signal }) => read({ signal }), refetchInterval: REFRESH_MS })

export const meQuery = setup('me', client.me.read)
export const policyQuery = setup('policy', client.deliveries.policy)
export const eventTypesQuery = setup('event types', client.events.types)

/** Endpoints that every screen looks at. The list of endpoints loads as many again on request. */
export const FIRST_ENDPOINTS = 1_000

export interface Endpoints {
  readonly items: readonly SummaryItem[]
  /** False: the tenant has more. */
  readonly isComplete: boolean
}

/** Reads pages until there are `most` items or no more. */
async function readFirst<P extends Page>(most: number, list: (query: object) => Pages<P>) {
  const items: P['items'][number][] = []
  let cursor: string | undefined
  do {
    const page = await list({ limit: PAGE_SIZE, ...(cursor && { cursor }) }).page()
    items.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined && items.length < most)
  return { items, isComplete: cursor === undefined }
}

/** @param most how many endpoints to read; the more there are, the less often they are read again */
export const endpointsQuery = (most: number) =>
  queryOptions({
    queryKey: ['delivery', 'summary', most],
    queryFn: ({ signal }): Promise<Endpoints> =>
      readFirst(most, (query) => client.subscriptions.summary(query, { signal })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS * Math.ceil(most / FIRST_ENDPOINTS),
  })

export const summaryQuery = endpointsQuery(FIRST_ENDPOINTS)

/** Whether an endpoint no longer exists; false if that is not known, because there are too many. */
export const isDeletedQuery = (id: string) => ({
  ...summaryQuery,
  select: ({ items, isComplete }: Endpoints): boolean =>
    isComplete && !items.some(({ subscriptionId }) => subscriptionId === id),
})

export const namesQuery = {
  ...summaryQuery,
  select: ({ items }: Endpoints): ReadonlyMap<string, string> =>
    new Map(items.map((item) => [item.subscriptionId, endpointName(item)])),
}

export const parkedQuery = live('parked', client.deliveries.parked)
export const recoveriesQuery = live('recoveries', (options) => client.recoveries.list({}, options).page())
export const recoveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['delivery', `recovery ${id}`],
    queryFn: ({ signal }) => client.recoveries.read(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.endedAt != null ? false : 1_000),
  })
export const subscriptionQuery = (id: string) =>
  live(`subscription ${id}`, (options) => client.subscriptions.read(id, options))
/** The event types of the latest held deliveries, the most frequent first. */
export const heldTypesQuery = (id: string) =>
  live(`held types ${id}`, async (options) => {
    const { items } = await client.subscriptions.deliveries(id, { state: 'held', limit: PAGE_SIZE }, options).page()
    const byType = Map.groupBy(items, ({ eventType }) => eventType)
    const counts = [...byType].map(([type, { length }]) => [type, length] as const)
    return { looked: items.length, counts: counts.toSorted(([, a], [, b]) => b - a) }
  })
export const eventQuery = (id: string) =>
  live(`event ${id}`, (options) => client.events.explain(id, { limit: 200 }, options))
/** The same for one row among many: the stream does not make it old, because each row is a request. */
export const happenedQuery = (id: string) =>
  queryOptions({
    queryKey: ['happened', `event ${id}`],
    queryFn: ({ signal }) => client.events.explain(id, { limit: 100 }, { signal }),
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
  })
export const deliveryQuery = (id: string) => live(`delivery ${id}`, (options) => client.deliveries.read(id, options))

/** @param subscriptionId undefined: over all endpoints */
export const statisticsQuery = (subscriptionId: string | undefined, hours: number) =>
  live(`statistics ${subscriptionId ?? 'all'} ${hours}`, (options) =>
    client.deliveries.statistics(
      {
        ...(subscriptionId && { subscriptionId }),
        from: new Date(Date.now() - hours * 3_600_000).toISOString(),
        step: hours > 24 ? '1h' : '1m',
      },
      options,
    ),
  )

export const eventsQuery = (filters: Filters) => pages('delivery', 'events', filters, client.events.list)
export const deliveriesQuery = (filters: Filters) =>
  pages('delivery', 'deliveries', { ...filters, state: filters['state'] ?? 'any' }, client.deliveries.list)
export const auditQuery = (filters: Filters) => pages('setup', 'audit', filters, client.audit.list)
/** Those who need help come first, so all are read. */
const FIRST_AGENTS = 2_000
export const agentsQuery = queryOptions({
  queryKey: ['voice', 'agents'],
  queryFn: ({ signal }) => readFirst(FIRST_AGENTS, (query) => client.agents.list(query, { signal })),
  refetchInterval: REFRESH_MS,
})
export const callsQuery = (filters: Filters) => pages('voice', 'calls', filters, client.calls.list)
