import { setTimeout as delay } from 'node:timers/promises'
import { AppError, type RecoveryId, type SubscriptionId } from '@switchhook/contracts'
import type { StateStore } from '@switchhook/store'
import type { Transact, Writing } from '../state/transact.ts'
import { LONGEST_CHECK_MS } from './pace.ts'
import { cancelled, type Recovery, type RecoveryChange } from './recovery.ts'
import type { RecoveryMeter } from './recovery-meter.ts'

/** The stored recoveries. Every method rejects with Unavailable if Redis is away. */
export interface RecoveryBook {
  /**
   * The existing recovery that answers this request: it has the same id, or runs with the same selection and pace.
   * @throws AppError `recovery-in-progress` if one of the subscription runs with another selection or pace
   */
  begun(tenant: string | null, request: RecoveryRequested): Promise<Recovery | undefined>
  /**
   * Stores a recovery together with the timer of its first step. Resolves to an existing one instead if that answers the
   * request, as `begun` does.
   * @throws AppError `recovery-in-progress`, as `begun`
   */
  begin(tenant: string | null, recovery: Recovery): Promise<Recovery>
  find(tenant: string | null, recoveryId: RecoveryId): Promise<Recovery | undefined>
  /** The newest 50, the newest first. An ended recovery expires after seven days. */
  list(tenant: string | null, subscriptionId: SubscriptionId): Promise<readonly Recovery[]>
  /**
   * Ends a running recovery. Resolves once the replica that is sending its batch has stopped, or is presumed dead, so that
   * nothing is sent after the answer.
   */
  cancel(tenant: string | null, recoveryId: RecoveryId): Promise<Recovery | undefined>
}

export type RecoveryRequested = Pick<Recovery, 'recoveryId' | 'subscriptionId' | 'selection' | 'maxPerSecond'>

/** The ids of a subscription's recoveries, the newest first. */
interface Listed {
  readonly recoveries: readonly RecoveryId[]
}

interface Begun {
  readonly begun: Recovery
  readonly dropped: readonly RecoveryId[]
}

/** The payload of a timer. */
export interface RecoveryTimer {
  readonly recoveryId: RecoveryId
  /** The number of the step that it begins. */
  readonly turn: number
}

const DAY_MS = 24 * 60 * 60_000
/** How long an ended recovery is kept. */
const KEPT_MS = 7 * DAY_MS
/** How long a list is kept after its last recovery began: longer than any recovery runs. */
const LIST_KEPT_MS = 90 * DAY_MS
const MOST_LISTED = 50
/** Longer than the broker takes to confirm, or to be declared away. */
const RELEASED_WITHIN_MS = 12_000
const RELEASED_CHECK_MS = 50
/** A running recovery that was not updated for this long has lost its timer. */
const TIMER_LOST_MS = LONGEST_CHECK_MS + 30_000

export const recoveryKey = (recoveryId: RecoveryId): string => `recovery:${recoveryId}`
const listKey = (subscriptionId: SubscriptionId): string => `recoveries:${subscriptionId}`

/** Writes the recovery and the timer of its next step in one commit. */
export function writingOf(recovery: Recovery, dueInMs?: number): Writing {
  const { recoveryId, turn, endedAt } = recovery
  const payload: RecoveryTimer = { recoveryId, turn }
  return {
    records: [{ key: recoveryKey(recoveryId), value: recovery, ...(endedAt !== null && { ttlMs: KEPT_MS }) }],
    timers: dueInMs === undefined ? [] : [{ id: recoveryKey(recoveryId), dueInMs, payload }],
  }
}

export function createRecoveryBook(deps: {
  readonly store: Pick<StateStore, 'read'>
  readonly transact: Transact
  readonly meter: RecoveryMeter
  /** Milliseconds since 1970. */
  readonly now: () => number
}): RecoveryBook {
  const { store, transact, meter, now } = deps

  async function read(tenant: string | null, ids: readonly RecoveryId[]): Promise<readonly Recovery[]> {
    const records = await store.read(tenant, ids.map(recoveryKey))
    return records.flatMap((record) => (record === undefined ? [] : [record.value as Recovery]))
  }

  /** Sets a lost timer again. During an upgrade, a replica of a version without recoveries may have discarded it. */
  async function restoreTimer(tenant: string | null, recovery: Recovery): Promise<Recovery> {
    if (recovery.state !== 'running' || now() - Date.parse(recovery.updatedAt) < TIMER_LOST_MS) return recovery
    return transact(tenant, [recoveryKey(recovery.recoveryId)], ([stored]) => {
      const present = stored as Recovery | undefined
      if (present?.turn !== recovery.turn || present.state !== 'running') return { result: present ?? recovery }
      const next = { ...present, turn: present.turn + 1 }
      return { result: next, writing: writingOf(next, 0) }
    })
  }

  const expire = (tenant: string | null, recoveryId: RecoveryId): Promise<void> =>
    transact(tenant, [recoveryKey(recoveryId)], ([stored]) => ({
      result: undefined,
      ...(stored !== undefined && {
        writing: { records: [{ key: recoveryKey(recoveryId), value: stored, ttlMs: 1 }] },
      }),
    }))

  async function find(tenant: string | null, recoveryId: RecoveryId): Promise<Recovery | undefined> {
    const [found] = await read(tenant, [recoveryId])
    return found && restoreTimer(tenant, found)
  }

  async function existingFor(
    tenant: string | null,
    request: RecoveryRequested,
    newestId: RecoveryId | undefined,
  ): Promise<Recovery | undefined> {
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
    begun: async (tenant, request) => {
      const [listed] = await store.read(tenant, [listKey(request.subscriptionId)])
      return existingFor(tenant, request, (listed?.value as Listed | undefined)?.recoveries[0])
    },
    begin: async (tenant, recovery) => {
      const { begun, dropped } = await transact<Begun>(tenant, [listKey(recovery.subscriptionId)], async ([stored]) => {
        const { recoveries } = (stored as Listed | undefined) ?? { recoveries: [] }
        const existing = await existingFor(tenant, recovery, recoveries[0])
        if (existing !== undefined) return { result: { begun: existing, dropped: [] } }
        const { records, timers = [] } = writingOf(recovery, 0)
        const all = [recovery.recoveryId, ...recoveries]
        const listed: Listed = { recoveries: all.slice(0, MOST_LISTED) }
        const list = { key: listKey(recovery.subscriptionId), value: listed, ttlMs: LIST_KEPT_MS }
        return {
          result: { begun: recovery, dropped: all.slice(MOST_LISTED) },
          writing: { records: [list, ...records], timers },
        }
      })
      // Bounds the store for a client that begins and cancels all day. After a crash here, the records expire in seven days.
      await Promise.all(dropped.map((recoveryId) => expire(tenant, recoveryId)))
      return begun
    },
    list: async (tenant, subscriptionId) => {
      const [listed] = await store.read(tenant, [listKey(subscriptionId)])
      return read(tenant, (listed?.value as Listed | undefined)?.recoveries ?? [])
    },
    cancel: async (tenant, recoveryId) => {
      const ended = await transact<RecoveryChange | undefined>(tenant, [recoveryKey(recoveryId)], ([stored]) => {
        const present = stored as Recovery | undefined
        if (present?.state !== 'running') return { result: present && { before: present, after: present } }
        const next = cancelled(present, 'requested', now())
        return { result: { before: present, after: next }, writing: writingOf(next) }
      })
      if (ended === undefined) return undefined
      meter.changed(ended)
      let latest: Recovery | undefined = ended.after
      const deadline = now() + RELEASED_WITHIN_MS
      while (latest?.state === 'cancelled' && latest.isSending && now() < deadline) {
        await delay(RELEASED_CHECK_MS)
        latest = (await read(tenant, [recoveryId]))[0]
      }
      return latest
    },
  }
}

/** How a running recovery differs from the request; undefined if it does not. */
function differenceOf({ selection: { from, to, reason }, maxPerSecond }: Recovery, asked: RecoveryRequested) {
  const { selection } = asked
  if (from !== selection.from || to !== selection.to) return 'another window (from, to)'
  if (reason !== selection.reason) return 'another reason'
  if (maxPerSecond !== asked.maxPerSecond) return `maxPerSecond ${maxPerSecond ?? 'of the installation'}`
  return undefined
}
