import { setTimeout as delay } from 'node:timers/promises'
import { AppError, type RecoveryId, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import { type BreakerStore, createListCursor, type PageQuery, type ParkedWindow } from '@switchhook/store'
import type { State } from '../../state/state.ts'
import type { Transact, Writing } from '../../state/transact.ts'
import type { WebhookParts } from '../stores.ts'
import { cancelled, type Recovery, type RecoveryChange, type RecoveryRequested, type Selection } from './recovery.ts'
import type { RecoveryMeter } from './recovery-meter.ts'

export interface RecoveriesDeps extends Pick<WebhookParts, 'rejections' | 'deliveries' | 'journal' | 'now' | 'log'> {
  readonly store: State['store']
  readonly readEndpoint: BreakerStore['readEndpoint']
  readonly parked: ParkedWindow
  readonly publish: Broker['publishYielding']
  /** Maximum deliveries per second of one recovery. */
  readonly mostPerSecond: number
  readonly meter: RecoveryMeter
}

/** The ids of a subscription's or a tenant's recoveries, the newest first. */
interface Listed {
  readonly recoveries: readonly RecoveryId[]
}

type BegunRecovery = { readonly begun: Recovery; readonly dropped: readonly RecoveryId[] }

export interface RecoveryTimer {
  readonly recoveryId: RecoveryId
  /** The number of the step that it begins. */
  readonly step: number
}

const DAY_MS = 24 * 60 * 60_000
const KEPT_MS = 7 * DAY_MS
/** How long a list is kept after its last recovery began: longer than any recovery runs. */
const LIST_KEPT_MS = 90 * DAY_MS
const MAX_LISTED = 50
const MAX_LISTED_OF_TENANT = 200
/** Longer than the broker takes to confirm, or to be declared away. */
const RELEASED_WITHIN_MS = 12_000
const RELEASED_CHECK_MS = 50

export const recoveryKey = (recoveryId: RecoveryId): string => `recovery:${recoveryId}`

const listKey = (subscriptionId: SubscriptionId): string => `recoveries:${subscriptionId}`
const TENANT_LIST = 'recoveries'
const listed = (key: string, recoveries: Listed['recoveries']) => ({ key, value: { recoveries }, ttlMs: LIST_KEPT_MS })

const cursors = createListCursor('r', /^[0-9a-f-]{36}$/)

/** Writes the recovery and the timer of its next step in one commit. */
export function writingOf(recovery: Recovery, dueInMs?: number): Writing {
  const { recoveryId, step, endedAt } = recovery
  const key = recoveryKey(recoveryId)
  const payload: RecoveryTimer = { recoveryId, step }
  return {
    records: [{ key, value: recovery, ...(endedAt !== null && { ttlMs: KEPT_MS }) }],
    timers: dueInMs === undefined ? [] : [{ id: key, dueInMs, payload }],
  }
}

export type RecoveryBook = ReturnType<typeof createRecoveryBook>

/** The stored recoveries. Every method rejects with Unavailable if Redis is away. */
export function createRecoveryBook({ store, rejections, meter, now }: RecoveriesDeps, transact: Transact) {
  async function read(tenant: Tenant, ids: readonly RecoveryId[]): Promise<readonly Recovery[]> {
    const records = await store.read(tenant, ids.map(recoveryKey))
    return records.flatMap(({ value }) => (value === undefined ? [] : [value as Recovery]))
  }

  const expire = (tenant: Tenant, recoveryId: RecoveryId): Promise<void> =>
    transact(tenant, [recoveryKey(recoveryId)], ([value]) => {
      const records = [{ key: recoveryKey(recoveryId), value, ttlMs: 1 }]
      return { result: undefined, ...(value !== undefined && { writing: { records } }) }
    })

  const readList = async (tenant: Tenant, key: string): Promise<readonly RecoveryId[]> =>
    ((await store.read(tenant, [key]))[0]?.value as Listed | undefined)?.recoveries ?? []

  const find = async (tenant: Tenant, recoveryId: RecoveryId): Promise<Recovery | undefined> =>
    (await read(tenant, [recoveryId]))[0]

  async function existingFor(tenant: Tenant, request: RecoveryRequested, newestId: RecoveryId | undefined) {
    const existing = await find(tenant, request.recoveryId)
    if (existing !== undefined) return existing
    // Only the newest can be running, because none begins before the previous one has ended.
    const newest = newestId && (await find(tenant, newestId))
    if (newest?.state !== 'running') return undefined
    const difference = differenceOf(newest, request)
    if (difference === undefined) return newest
    throw new AppError('recovery-in-progress', {
      detail: `Recovery ${newest.recoveryId} is running with ${difference}. Cancel it or wait for its end, then repeat the request, with a new Idempotency-Key if you sent one.`,
    })
  }

  return {
    find,
    /**
     * The existing recovery that answers this request: it has the same id, or runs with the same selection and pace.
     * @throws AppError `recovery-in-progress` if one of the subscription runs with another selection or pace
     */
    begun: async (tenant: Tenant, request: RecoveryRequested): Promise<Recovery | undefined> =>
      existingFor(tenant, request, (await readList(tenant, listKey(request.subscriptionId)))[0]),
    /** Stores a recovery with the timer of its first step, unless `begun` finds one. @throws as `begun` */
    begin: async (tenant: Tenant, recovery: Recovery): Promise<Recovery> => {
      const keys = [listKey(recovery.subscriptionId), TENANT_LIST]
      const { begun, dropped } = await transact<BegunRecovery>(tenant, keys, async (stored) => {
        const [ofSubscription = [], ofTenant = []] = stored.map((list) => (list as Listed | undefined)?.recoveries)
        const existing = await existingFor(tenant, recovery, ofSubscription[0])
        if (existing !== undefined) return { result: { begun: existing, dropped: [] } }
        const { records, timers = [] } = writingOf(recovery, 0)
        const lists = [
          listed(listKey(recovery.subscriptionId), [recovery.recoveryId, ...ofSubscription].slice(0, MAX_LISTED)),
          listed(TENANT_LIST, [recovery.recoveryId, ...ofTenant].slice(0, MAX_LISTED_OF_TENANT)),
        ]
        return {
          result: { begun: recovery, dropped: ofSubscription.slice(MAX_LISTED - 1) },
          writing: { records: [...lists, ...records], timers },
        }
      })
      // Bounds the store for a client that begins and cancels all day. After a crash here, the records expire in seven days.
      await Promise.all(dropped.map((recoveryId) => expire(tenant, recoveryId)))
      return begun
    },
    /** The newest 50, the newest first. An ended recovery expires after seven days. */
    list: async (tenant: Tenant, subscriptionId: SubscriptionId) =>
      read(tenant, await readList(tenant, listKey(subscriptionId))),
    /**
     * A page of the tenant's newest 200, the newest first.
     * @throws AppError `invalid-request` for a cursor that is not from this list
     */
    page: async (tenant: Tenant, { limit, cursor }: PageQuery) => {
      const after = cursor === undefined ? undefined : cursors.parse(cursor)
      const ids = await readList(tenant, TENANT_LIST)
      // A recovery that has left the list meanwhile was the oldest: nothing follows it.
      const place = after === undefined ? -1 : ids.findIndex((id) => id === after)
      const from = after !== undefined && place < 0 ? ids.length : place + 1
      const page = ids.slice(from, from + limit)
      const last = page.at(-1)
      const hasMore = from + page.length < ids.length
      return { items: await read(tenant, page), nextCursor: hasMore && last !== undefined ? cursors.of(last) : null }
    },
    /** Resolves once the replica that sends its batch has stopped, or is presumed dead: nothing is sent afterwards. */
    cancel: async (tenant: Tenant, recoveryId: RecoveryId): Promise<Recovery | undefined> => {
      const ended = await transact<RecoveryChange | undefined>(tenant, [recoveryKey(recoveryId)], async ([stored]) => {
        const present = stored as Recovery | undefined
        if (present?.state !== 'running') return { result: present && { before: present, after: present } }
        // A rejection that was recorded while it began has kept the time from which it sends.
        if (present.startedBy === 'recoverRejected') {
          await rejections.forget({ tenant, subscriptionId: present.subscriptionId })
        }
        const next = cancelled(present, 'requested', now())
        return { result: { before: present, after: next }, writing: writingOf(next) }
      })
      if (ended === undefined) return undefined
      meter.changed(ended)
      let latest: Recovery | undefined = ended.after
      const deadline = now() + RELEASED_WITHIN_MS
      while (latest?.state === 'cancelled' && latest.isSending && now() < deadline) {
        await delay(RELEASED_CHECK_MS)
        latest = await find(tenant, recoveryId)
      }
      return latest
    },
  }
}

/** How a running recovery differs from the request; undefined if it does not. */
function differenceOf({ kind, startedBy, selection, maxPerSecond }: Recovery, asked: RecoveryRequested) {
  const { from, to, reason, eventTypes } = selection
  if (kind !== asked.kind) return kind === 'backfill' ? 'events of the journal' : 'parked deliveries'
  if (startedBy !== asked.startedBy) return 'deliveries that the endpoint had rejected (recoverRejected)'
  if (from !== asked.selection.from || to !== asked.selection.to) return 'another window (from, to)'
  if (reason !== asked.selection.reason) return 'another reason'
  if (typesText(eventTypes) !== typesText(asked.selection.eventTypes)) return 'other eventTypes'
  if (maxPerSecond !== asked.maxPerSecond) return `maxPerSecond ${maxPerSecond ?? 'of the installation'}`
  return undefined
}

const typesText = (eventTypes: Selection['eventTypes']): string => (eventTypes ?? []).toSorted().join()
