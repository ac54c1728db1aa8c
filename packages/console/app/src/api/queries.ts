import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { endpointName } from '../rules/attention.ts'
import type {
  Agent,
  AuditEntry,
  Delivery,
  DeliverySummary,
  EventTypeDescription,
  ExplainedEvent,
  Leg,
  ListedEvent,
  Me,
  Page,
  ParkedGroups,
  Policy,
  Recovery,
  Statistics,
  Subscription,
  Summary,
  SummaryItem,
} from './model.ts'
import { request } from './request.ts'

/**
 * Everything that the console reads. The first part of a key says what makes the answer old: `delivery` and `voice` follow
 * the live stream, `setup` hardly changes.
 */

/** The stream says what has changed; this is for what it does not report, such as a cool-down that ends. */
const REFRESH_MS = 15_000

const live = { refetchInterval: REFRESH_MS } as const

const webhooks = '/api/v1/webhooks'

/** Rows per request of a long list. */
const PAGE_SIZE = 100

type Filters = Readonly<Record<string, string | undefined>>

/** Lists can have empty pages with a cursor: the reader goes on until it has rows or the end, a few pages at a time. */
const PAGES_AT_ONCE = 5

async function readPage<T>(
  path: string,
  query: Filters,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Page<T>> {
  let at = cursor
  let page: Page<T> = { items: [], nextCursor: null }
  for (let n = 0; n < PAGES_AT_ONCE; n++) {
    page = await request<Page<T>>('GET', path, { query: { ...query, limit: PAGE_SIZE, cursor: at }, signal })
    if (page.items.length > 0 || page.nextCursor === null) return page
    at = page.nextCursor
  }
  return page
}

/** A longer list, in pages, is not read again with each message of the stream. */
const SHORT_PAGES = 5
const LONG_LIST_REFRESH_MS = 120_000

/** @param data of any query */
export const isLongList = (data: unknown): boolean =>
  typeof data === 'object' &&
  data !== null &&
  'pages' in data &&
  (data.pages as readonly unknown[]).length > SHORT_PAGES

/** To read a list again is one request for each of its pages. */
const liveList = {
  refetchInterval: ({ state: { data } }: { readonly state: { readonly data?: unknown } }) =>
    isLongList(data) ? LONG_LIST_REFRESH_MS : REFRESH_MS,
}

const pages = <T>(group: string, path: string, query: Filters) =>
  infiniteQueryOptions({
    queryKey: [group, path, query],
    queryFn: ({ pageParam, signal }) => readPage<T>(path, query, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })

const one = <T>(group: string, path: string, query: Filters = {}) =>
  queryOptions({
    queryKey: [group, path, query],
    queryFn: ({ signal }) => request<T>('GET', path, { query, signal }),
  })

export const meQuery = { ...one<Me>('setup', '/api/v1/me'), staleTime: 300_000 }
export const policyQuery = { ...one<Policy>('setup', `${webhooks}/policy`), staleTime: 300_000 }
export const eventTypesQuery = {
  ...one<{ readonly items: readonly EventTypeDescription[] }>('setup', `${webhooks}/event-types`),
  staleTime: 300_000,
}

/** Endpoints that every screen looks at. The list of endpoints loads as many again on request. */
export const FIRST_ENDPOINTS = 1_000

export interface Endpoints {
  /** The oldest endpoints of the tenant. */
  readonly items: readonly SummaryItem[]
  /** False: the tenant has more. */
  readonly isComplete: boolean
}

/** @param most how many endpoints to read; the more there are, the less often they are read again */
export const endpointsQuery = (most: number) =>
  queryOptions({
    queryKey: ['delivery', 'summary', most],
    queryFn: async ({ signal }): Promise<Endpoints> => {
      const items: SummaryItem[] = []
      let cursor: string | undefined
      do {
        const query = { limit: PAGE_SIZE, cursor }
        const page = await request<Summary>('GET', `${webhooks}/summary`, { query, signal })
        items.push(...page.items)
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined && items.length < most)
      return { items, isComplete: cursor === undefined }
    },
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

/** The names of endpoints by id, as far as they are known. */
export const namesQuery = {
  ...summaryQuery,
  select: ({ items }: Endpoints): ReadonlyMap<string, string> =>
    new Map(items.map((item) => [item.subscriptionId, endpointName(item)])),
}
export const parkedQuery = { ...one<ParkedGroups>('delivery', `${webhooks}/parked`), ...live }
export const recoveriesQuery = {
  ...one<{ readonly items: readonly Recovery[] }>('delivery', `${webhooks}/recoveries`),
  ...live,
}
export const recoveryQuery = (id: string) => ({
  ...one<Recovery>('delivery', `${webhooks}/recoveries/${id}`),
  refetchInterval: ({ state: { data } }: { readonly state: { readonly data?: Recovery | undefined } }) =>
    data?.endedAt != null ? (false as const) : 1_000,
})
export const subscriptionQuery = (id: string) => ({
  ...one<Subscription>('delivery', `${webhooks}/subscriptions/${id}`),
  ...live,
})
export const eventQuery = (id: string) => ({
  ...one<ExplainedEvent>('delivery', `${webhooks}/events/${id}`, { limit: '200' }),
  ...live,
})
/** The same for one row among many: the stream does not make it old, because each row is a request. */
export const happenedQuery = (id: string) => ({
  ...one<ExplainedEvent>('happened', `${webhooks}/events/${id}`, { limit: '100' }),
  staleTime: REFRESH_MS,
  ...live,
})
export const deliveryQuery = (id: string) => ({ ...one<Delivery>('delivery', `${webhooks}/deliveries/${id}`), ...live })

/** @param subscriptionId undefined: over all endpoints */
export const statisticsQuery = (subscriptionId: string | undefined, hours: number) =>
  queryOptions({
    queryKey: ['delivery', 'statistics', subscriptionId ?? 'all', hours],
    queryFn: ({ signal }) =>
      request<Statistics>('GET', `${webhooks}/statistics`, {
        query: {
          subscriptionId,
          from: new Date(Date.now() - hours * 3_600_000).toISOString(),
          step: hours > 24 ? '1h' : '1m',
        },
        signal,
      }),
    ...live,
  })

export const eventsQuery = (filters: Filters) => ({
  ...pages<ListedEvent>('delivery', `${webhooks}/events`, filters),
  ...liveList,
})
export const deliveriesQuery = (filters: Filters) => ({
  ...pages<DeliverySummary>('delivery', `${webhooks}/deliveries`, { ...filters, state: filters['state'] ?? 'any' }),
  ...liveList,
})
export const auditQuery = (filters: Filters) => pages<AuditEntry>('setup', '/api/v1/audit', filters)

export const agentsQuery = { ...pages<Agent>('voice', '/api/v1/voice/agents', {}), ...liveList }
export const callsQuery = (filters: Filters) => ({
  ...pages<Leg>('voice', '/api/v1/voice/calls', filters),
  ...liveList,
})
