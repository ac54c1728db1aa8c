import { setTimeout as delay } from 'node:timers/promises'
import { AppError, type RecoveryId, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import { type BreakerStore, chunksOf, createListCursor, type PageQuery, type ParkedWindow } from '@switchhook/store'
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

/** A recovery in the list of its tenant. */
type Listed = readonly [recoveryId: RecoveryId, subscriptionId: SubscriptionId]

type BegunRecovery = { readonly begun: Recovery; readonly dropped: readonly Listed[] }

export interface RecoveryTimer {
  readonly recoveryId: RecoveryId
  /** The number of the step that it begins. */
  readonly step: number
}

const DAY_MS = 24 * 60 * 60_000
const KEPT_MS = 7 * DAY_MS
/** How long the list is kept after its last recovery began: longer than any recovery runs. */
const LIST_KEPT_MS = 90 * DAY_MS
/** Of which the store has records: otherwise a client that begins and cancels all day would fill it. */
const MOST = { subscription: 50, tenant: 1_000 }
/** Recoveries that are read together, to find one that has ended. */
const READ_AT_ONCE = 50
/** Longer than the broker takes to confirm, or to be declared away. */
const RELEASED_WITHIN_MS = 12_000
const RELEASED_CHECK_MS = 50

export const recoveryKey = (recoveryId: RecoveryId): string => `recovery:${recoveryId}`

/** The recoveries of a tenant, the newest first. The others have no record. */
const LIST = 'recoveries'
const parseList = (stored: unknown): readonly Listed[] =>
  (stored as { readonly recoveries: Listed[] } | undefined)?.recoveries ?? []
const idsOf = (list: readonly Listed[], subscriptionId: SubscriptionId): RecoveryId[] =>
  list.flatMap(([recoveryId, of]) => (of === subscriptionId ? [recoveryId] : []))

/** The last recovery of a page, and how many follow it. */
const cursors = createListCursor('r', /^[0-9a-f-]{36} \d{1,4}$/)

/** A recovery that was dropped meanwhile leaves the place before as many as followed it. */
function placeAfter(ids: readonly RecoveryId[], cursor: string): number {
  const [last, following] = cursors.parse(cursor).split(' ')
  const at = ids.findIndex((id) => id === last)
  return at < 0 ? Math.max(0, ids.length - Number(following)) : at + 1
}

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
export function createRecoveryBook(
  { store, rejections, meter, now }: Pick<RecoveriesDeps, 'store' | 'rejections' | 'meter' | 'now'>,
  transact: Transact,
  most: Readonly<typeof MOST> = MOST,
) {
  async function read(tenant: Tenant, ids: readonly RecoveryId[]): Promise<readonly Recovery[]> {
    const records = await store.read(tenant, ids.map(recoveryKey))
    return records.flatMap(({ value }) => (value === undefined ? [] : [value as Recovery]))
  }

  const expire = (tenant: Tenant, recoveryId: RecoveryId): Promise<void> =>
    transact(tenant, [recoveryKey(recoveryId)], ([value]) => {
      const records = [{ key: recoveryKey(recoveryId), value, ttlMs: 1 }]
      return { result: undefined, ...(value !== undefined && { writing: { records } }) }
    })

  const readList = async (tenant: Tenant): Promise<readonly Listed[]> =>
    parseList((await store.read(tenant, [LIST]))[0]?.value)

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

  /**
   * Those that give way to a new one. A running recovery never does: it would be lost.
   * @throws AppError `recovery-in-progress` if all of the tenant are running
   */
  async function beyondLimits(tenant: Tenant, list: readonly Listed[], of: SubscriptionId): Promise<readonly Listed[]> {
    const own = list.filter(([, subscriptionId]) => subscriptionId === of).slice(most.subscription - 1)
    if (own.length > 0 || list.length < most.tenant) return own
    for (const some of chunksOf(list.toReversed(), READ_AT_ONCE)) {
      const ids = some.map(([id]) => id)
      const running = (await read(tenant, ids)).filter(({ endedAt }) => endedAt === null)
      const runningIds = new Set(running.map(({ recoveryId }) => recoveryId))
      const ended = some.find(([id]) => !runningIds.has(id))
      if (ended !== undefined) return [ended]
    }
    throw new AppError('recovery-in-progress', {
      detail: `${most.tenant} recoveries of the tenant are running. Cancel one or wait for its end, then repeat the request.`,
    })
  }

  return {
    find,
    /**
     * The existing recovery that answers this request: it has the same id, or runs with the same selection and pace.
     * @throws AppError `recovery-in-progress` if one of the subscription runs with another selection or pace
     */
    begun: async (tenant: Tenant, request: RecoveryRequested): Promise<Recovery | undefined> =>
      existingFor(tenant, request, idsOf(await readList(tenant), request.subscriptionId)[0]),
    /** Stores a recovery with the timer of its first step, unless `begun` finds one. @throws as `begun` and `beyondLimits` */
    begin: async (tenant: Tenant, recovery: Recovery): Promise<Recovery> => {
      const { recoveryId, subscriptionId } = recovery
      const { begun, dropped } = await transact<BegunRecovery>(tenant, [LIST], async ([stored]) => {
        const list = parseList(stored)
        const existing = await existingFor(tenant, recovery, idsOf(list, subscriptionId)[0])
        if (existing !== undefined) return { result: { begun: existing, dropped: [] } }
        const dropped = await beyondLimits(tenant, list, subscriptionId)
        const recoveries = [[recoveryId, subscriptionId], ...list.filter((each) => !dropped.includes(each))]
        const { records, timers = [] } = writingOf(recovery, 0)
        return {
          result: { begun: recovery, dropped },
          writing: { records: [{ key: LIST, value: { recoveries }, ttlMs: LIST_KEPT_MS }, ...records], timers },
        }
      })
      // After a crash here, the records expire in seven days.
      await Promise.all(dropped.map(([id]) => expire(tenant, id)))
      return begun
    },
    /** The newest 50, the newest first. An ended recovery expires after seven days. */
    list: async (tenant: Tenant, subscriptionId: SubscriptionId) =>
      read(tenant, idsOf(await readList(tenant), subscriptionId)),
    /**
     * A page of the tenant's newest 1,000, the newest first.
     * @throws AppError `invalid-request` for a cursor that is not from this list
     */
    page: async (tenant: Tenant, { limit, cursor }: PageQuery) => {
      const ids = (await readList(tenant)).map(([id]) => id)
      const from = cursor === undefined ? 0 : placeAfter(ids, cursor)
      const page = ids.slice(from, from + limit)
      const following = ids.length - from - page.length
      const nextCursor = following > 0 ? cursors.of(`${page.at(-1)} ${following}`) : null
      return { items: await read(tenant, page), nextCursor }
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
