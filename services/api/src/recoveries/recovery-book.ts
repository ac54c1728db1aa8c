import { setTimeout as delay } from 'node:timers/promises'
import { AppError, type RecoveryId, type SubscriptionId } from '@switchhook/contracts'
import type { StateStore } from '@switchhook/store'
import type { Transact, Writing } from '../state/transact.ts'
import { LONGEST_CHECK_MS } from './pace.ts'
import { cancelled, type Recovery } from './recovery.ts'
import type { RecoveryMeter } from './recovery-meter.ts'

/** Where recoveries are kept. Rejects with Unavailable without Redis. */
export interface RecoveryBook {
  /**
   * The one that answers such a request without another being begun: it has the same id, or runs as requested.
   * @throws AppError `recovery-in-progress` while one of the same subscription runs with another selection or pace
   */
  begun(tenant: string | null, request: RecoveryRequested): Promise<Recovery | undefined>
  /**
   * Stores a recovery together with the timer of its first turn. Resolves to the one that is there already if it has the
   * same id, or runs as requested.
   * @throws AppError `recovery-in-progress` while one of the same subscription runs with another selection or pace
   */
  begin(tenant: string | null, recovery: Recovery): Promise<Recovery>
  find(tenant: string | null, recoveryId: RecoveryId): Promise<Recovery | undefined>
  /** The newest first; those that ended long ago are forgotten. */
  list(tenant: string | null, subscriptionId: SubscriptionId): Promise<readonly Recovery[]>
  /**
   * Ends it if it runs. Resolves once whoever has deliveries of it in hand has put them down, or may be presumed dead:
   * nothing more is sent then.
   */
  cancel(tenant: string | null, recoveryId: RecoveryId): Promise<Recovery | undefined>
}

export type RecoveryRequested = Pick<Recovery, 'recoveryId' | 'subscriptionId' | 'selection' | 'maxPerSecond'>

/** The last ones of a subscription, by id, the newest first. */
interface Listed {
  readonly recoveries: readonly RecoveryId[]
}

interface Step {
  readonly before: Recovery
  readonly after: Recovery
}

interface Begun {
  readonly begun: Recovery
  readonly dropped: readonly RecoveryId[]
}

/** What a timer says. */
export interface RecoveryTimer {
  readonly recoveryId: RecoveryId
  readonly turn: number
}

const DAY_MS = 24 * 60 * 60_000
/** After their end. */
const KEPT_MS = 7 * DAY_MS
/** After the last one began: longer than any runs. */
const LIST_KEPT_MS = 90 * DAY_MS
const MOST_LISTED = 50
/** Longer than a broker takes to confirm, or to be found silent. */
const PUT_DOWN_WITHIN_MS = 12_000
const PUT_DOWN_CHECK_MS = 50
/** Nobody has driven it for so long, though it had something to do: its timer was lost. */
const FORSAKEN_MS = LONGEST_CHECK_MS + 30_000

export const recoveryKey = (recoveryId: RecoveryId): string => `recovery:${recoveryId}`
const listKey = (subscriptionId: SubscriptionId): string => `recoveries:${subscriptionId}`

/** The recovery as it is written, and the timer of its next turn, in one step. */
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

  /** A replica of a version that knew no recoveries may have taken a timer for nobody's. */
  async function wake(tenant: string | null, recovery: Recovery): Promise<Recovery> {
    if (recovery.state !== 'running' || now() - Date.parse(recovery.updatedAt) < FORSAKEN_MS) return recovery
    return transact(tenant, [recoveryKey(recovery.recoveryId)], ([stored]) => {
      const present = stored as Recovery | undefined
      if (present?.turn !== recovery.turn || present.state !== 'running') return { result: present ?? recovery }
      const next = { ...present, turn: present.turn + 1 }
      return { result: next, writing: writingOf(next, 0) }
    })
  }

  const forget = (tenant: string | null, recoveryId: RecoveryId): Promise<void> =>
    transact(tenant, [recoveryKey(recoveryId)], ([stored]) => ({
      result: undefined,
      ...(stored !== undefined && {
        writing: { records: [{ key: recoveryKey(recoveryId), value: stored, ttlMs: 1 }] },
      }),
    }))

  async function find(tenant: string | null, recoveryId: RecoveryId): Promise<Recovery | undefined> {
    const [found] = await read(tenant, [recoveryId])
    return found && wake(tenant, found)
  }

  async function answering(
    tenant: string | null,
    request: RecoveryRequested,
    newestId: RecoveryId | undefined,
  ): Promise<Recovery | undefined> {
    const existing = await find(tenant, request.recoveryId)
    if (existing !== undefined) return existing
    // Only the newest can be running: none begins before the last one has ended.
    const newest = newestId && (await find(tenant, newestId))
    if (newest?.state !== 'running') return undefined
    const difference = differenceOf(newest, request)
    if (difference === undefined) return newest
    throw new AppError('recovery-in-progress', {
      detail: `Recovery ${newest.recoveryId} is still running, with ${difference}. Cancel it, or wait until it is done, and ask again, under another Idempotency-Key if you sent one`,
    })
  }

  return {
    find,
    begun: async (tenant, request) => {
      const [listed] = await store.read(tenant, [listKey(request.subscriptionId)])
      return answering(tenant, request, (listed?.value as Listed | undefined)?.recoveries[0])
    },
    begin: async (tenant, recovery) => {
      const { begun, dropped } = await transact<Begun>(tenant, [listKey(recovery.subscriptionId)], async ([stored]) => {
        const { recoveries } = (stored as Listed | undefined) ?? { recoveries: [] }
        const existing = await answering(tenant, recovery, recoveries[0])
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
      // Else whoever begins and cancels all day would fill the store. If we die here, they are forgotten in some days.
      await Promise.all(dropped.map((recoveryId) => forget(tenant, recoveryId)))
      return begun
    },
    list: async (tenant, subscriptionId) => {
      const [listed] = await store.read(tenant, [listKey(subscriptionId)])
      return read(tenant, (listed?.value as Listed | undefined)?.recoveries ?? [])
    },
    cancel: async (tenant, recoveryId) => {
      const ended = await transact<Step | undefined>(tenant, [recoveryKey(recoveryId)], ([stored]) => {
        const present = stored as Recovery | undefined
        if (present?.state !== 'running') return { result: present && { before: present, after: present } }
        const next = cancelled(present, 'requested', now())
        return { result: { before: present, after: next }, writing: writingOf(next) }
      })
      if (ended === undefined) return undefined
      meter.noted(ended.before, ended.after)
      let latest: Recovery | undefined = ended.after
      const deadline = now() + PUT_DOWN_WITHIN_MS
      while (latest?.state === 'cancelled' && latest.isSending && now() < deadline) {
        await delay(PUT_DOWN_CHECK_MS)
        latest = (await read(tenant, [recoveryId]))[0]
      }
      return latest
    },
  }
}

/** What of a running one is not as requested. */
function differenceOf({ selection: { from, to, reason }, maxPerSecond }: Recovery, asked: RecoveryRequested) {
  const { selection } = asked
  if (from !== selection.from || to !== selection.to) return 'another window'
  if (reason !== selection.reason) return 'another reason'
  if (maxPerSecond !== asked.maxPerSecond) return `maxPerSecond ${maxPerSecond ?? 'as the installation allows'}`
  return undefined
}
