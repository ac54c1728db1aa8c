import { type Attempt, parseSubscriptionId, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { type ListedDelivery, readListed } from '../deliveries/listed-delivery.ts'
import { isParked, type ParkedEntry, toEntry } from '../deliveries/parked-list.ts'
import { bodyKey, parkedKey, parkingSubscriptionsKey, subscriptionsKey } from '../keys.ts'
import {
  collectPage,
  createListCursor,
  isoTime,
  type ListPart,
  lowerBound,
  newestEntries,
  type Page,
  type RangeQuery,
  upperBound,
} from '../paging.ts'
import { chunksOf, inChunks } from '../redis/in-chunks.ts'
import { execute, pipeline, type Redis } from '../redis/redis.ts'
import { byPlace, type Chunk, type MergeEntry, mergeLists } from './merge-lists.ts'

export interface TenantParkedQuery extends RangeQuery {
  /** Absent: every subscription of the tenant. */
  readonly subscriptionId?: SubscriptionId
  readonly matches: (delivery: ListedDelivery) => boolean
  /** Asked about deliveries that match. Absent: the body is not read. */
  readonly bodyMatches?: (body: Buffer) => boolean
}

/** Deliveries of one subscription that were parked for the same reason after the same result of their last attempt. */
export interface ParkedCause {
  readonly subscriptionId: SubscriptionId
  readonly url: string
  /** Null: `count` older deliveries were not read. */
  readonly parkedReason: ListedDelivery['parkedReason']
  /** Of the last attempt; null without one. */
  readonly outcome: Attempt['outcome'] | null
  readonly status: number | null
  readonly count: number
  /** When the first and the last of them were parked, ISO 8601, UTC. */
  readonly since: string
  readonly latest: string
}

interface ParkedListEntry extends MergeEntry, ParkedEntry {
  readonly list: SubscriptionId
}

/** Of the subscriptions that parked a delivery last. A read of all of them takes Redis a few milliseconds. */
const MAX_LISTS = 1_000
/** Deliveries whose cause is read for one answer: some 75 ms of the api, 17 ms of Redis. */
const MAX_EXAMINED = 5_000
const RECORDS_AT_ONCE = 250
/** A body can have 256 KB, which takes the process some 2 ms to parse. It serves others in between. */
const BODIES_AT_ONCE = 2
/** Lists whose records are read together. Redis serves others in between. */
const LISTS_AT_ONCE = 8
const MAX_CAUSES = 1_000

const cursors = createListCursor('t', /^\d{1,16} [0-9a-f-]{36}$/)

/** The parked deliveries of all subscriptions of a tenant, merged from the lists of the subscriptions. */
export function createTenantParked(redis: Redis) {
  async function newestOf(list: SubscriptionId, part: ListPart): Promise<Chunk<ParkedListEntry>> {
    const found = await newestEntries(redis, parkedKey(list), part)
    return { entries: found.map((entry) => ({ ...toEntry(entry), list })), isEnd: found.length < part.count }
  }

  const read = (tenant: Tenant, entries: readonly ParkedListEntry[]): Promise<(ListedDelivery | undefined)[]> =>
    readListed(redis, entries, (found, entry) => isParked(found, entry) && found.view.tenant === tenant)

  async function matching(
    tenant: Tenant,
    entries: readonly ParkedListEntry[],
    { matches, bodyMatches }: TenantParkedQuery,
  ): Promise<(ListedDelivery | undefined)[]> {
    const found = (await read(tenant, entries)).map((item) => (item !== undefined && matches(item) ? item : undefined))
    if (bodyMatches === undefined) return found
    const withBody = async (item: ListedDelivery | undefined) => {
      const body = item && (await redis[execute]((commands) => commands.getBuffer(bodyKey(item.deliveryId))))
      return body != null && bodyMatches(body) ? item : undefined
    }
    return inChunks(found, withBody, BODIES_AT_ONCE)
  }

  /** The subscriptions of a tenant that parked a delivery, deleted ones included, the last one first. */
  async function allLists(tenant: Tenant): Promise<SubscriptionId[]> {
    const found = await redis[execute]((commands) =>
      commands.zrevrange(parkingSubscriptionsKey(tenant), 0, MAX_LISTS - 1),
    )
    return found.map(parseSubscriptionId)
  }

  /** A list does not name its tenant, so only the list of a subscription that is, or was, the tenant's is read. */
  async function listsOf(tenant: Tenant, id: SubscriptionId | undefined): Promise<readonly SubscriptionId[]> {
    if (id === undefined) return allLists(tenant)
    const [exists, parkedAt] = await pipeline(redis, (commands) => [
      commands.hexists(subscriptionsKey(tenant), id),
      commands.zscore(parkingSubscriptionsKey(tenant), id),
    ])
    return exists === 1 || parkedAt !== null ? [id] : []
  }

  return {
    /** The newest first: later ones shift no page. @throws AppError `invalid-request` for another list's cursor */
    async page(tenant: Tenant, query: TenantParkedQuery): Promise<Page<ListedDelivery>> {
      const { limit, cursor, toMs } = query
      const end = cursor === undefined ? undefined : placeOf(cursors.parse(cursor))
      // Inclusive: other lists may have entries of the very time at which the last page ended.
      const first = end?.since ?? upperBound(undefined, toMs)
      const from = lowerBound(query.fromMs)
      const merged = mergeLists<ParkedListEntry>(await listsOf(tenant, query.subscriptionId), (list, before, count) =>
        newestOf(list, { before: before === undefined ? first : `(${before}`, from, count }),
      )
      async function* following() {
        for await (const entries of merged) {
          const left = end === undefined ? entries : entries.filter((entry) => byPlace(end, entry) < 0)
          yield* chunksOf(left, RECORDS_AT_ONCE)
        }
      }
      const cursorOf = ({ since, list }: ParkedListEntry) => cursors.of(`${since} ${list}`)
      return collectPage({ limit, entries: following(), cursorOf }, (some) => matching(tenant, some, query))
    },

    /** The causes with the most deliveries first. */
    async causes(tenant: Tenant): Promise<readonly ParkedCause[]> {
      const lists = await allLists(tenant)
      const sizes = await inChunks(lists, (list) =>
        pipeline(redis, (commands) => [
          commands.zcard(parkedKey(list)),
          commands.zrange(parkedKey(list), '0', '0', 'WITHSCORES'),
        ]),
      )
      const counts = sizes.map(([count]) => count)
      const most = fairLimit(counts, MAX_EXAMINED)
      const filled = lists.flatMap((list, i) => {
        const [count, [, oldest = '0']] = sizes[i] ?? [0, []]
        return count === 0 ? [] : [{ list, count, oldest }]
      })
      const causes = await inChunks(filled, (one) => causesOf(tenant, one, most), LISTS_AT_ONCE)
      return causes
        .flat()
        .toSorted((a, b) => b.count - a.count)
        .slice(0, MAX_CAUSES)
    },
  }

  /** The causes of the latest deliveries of one subscription, and one more group for the older ones beyond `most`. */
  async function causesOf(
    tenant: Tenant,
    { list, count, oldest }: { list: SubscriptionId; count: number; oldest: string },
    most: number,
  ): Promise<ParkedCause[]> {
    const { entries } = await newestOf(list, { before: '+inf', from: '-inf', count: most })
    const groups = new Map<string, ParkedCause>()
    const records = await read(tenant, entries)
    for (const [i, record] of records.entries()) {
      if (record !== undefined) addTo(groups, record, isoTime(entries[i]?.since ?? ''))
    }
    const rest = count - entries.length
    if (rest <= 0) return [...groups.values()]
    const [newest] = groups.values()
    const latest = isoTime(entries.at(-1)?.since ?? oldest)
    const unread = { parkedReason: null, outcome: null, status: null, count: rest, since: isoTime(oldest), latest }
    return [...groups.values(), { subscriptionId: list, url: newest?.url ?? '', ...unread }]
  }
}

/** Records come newest first. */
function addTo(groups: Map<string, ParkedCause>, record: ListedDelivery, parkedAt: string): void {
  const { subscriptionId, url, parkedReason } = record
  const { outcome = null, status = null } = record.attempts.at(-1) ?? {}
  const name = `${parkedReason} ${outcome} ${status}`
  const group = groups.get(name)
  if (group === undefined) {
    const times = { since: parkedAt, latest: parkedAt }
    groups.set(name, { subscriptionId, url, parkedReason, outcome, status, count: 1, ...times })
  } else groups.set(name, { ...group, count: group.count + 1, since: parkedAt })
}

function placeOf(place: string): MergeEntry {
  const [since = '', list = ''] = place.split(' ')
  return { since, list }
}

/**
 * The largest limit per list with which all together stay within `most`. A shorter list leaves its share to the others.
 * @param counts the number of entries of each list
 * @returns at least 1
 */
export function fairLimit(counts: readonly number[], most: number): number {
  let left = most
  for (const [i, count] of counts.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (counts.length - i))
    if (count > share) return Math.max(1, share)
    left -= count
  }
  return most
}
