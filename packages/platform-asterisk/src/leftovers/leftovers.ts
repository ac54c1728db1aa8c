import type { Surroundings } from '@switchhook/platform'
import { bridgeName } from '../actions/carry-out.ts'
import { type AriClient, bridgePath, channelPath } from '../ari/ari-client.ts'
import type { Calls } from '../ari/read-calls.ts'
import type { SessionStore } from '../store/session-store.ts'
import { findUnknown, type UnknownChannel, type UnknownOptions } from './unknown-channels.ts'

export interface LeftoversDeps extends Pick<Surroundings, 'now'>, Pick<UnknownOptions, 'app' | 'verifyStorage'> {
  readonly ari: Pick<AriClient, 'request'>
  readonly store: Pick<SessionStore, 'load' | 'unfinished'>
  readonly onUnknown: (unknown: UnknownChannels) => void
}

/** Channels without a stored call, as of the latest round. */
export interface UnknownChannels {
  readonly count: number
  /** So many of them are leftovers that none is removed until an operator decides. */
  readonly isHeldBack: boolean
}

/**
 * Removes channels and bridges of calls that are finished. A channel without a stored call may also be a live call whose
 * record Redis has lost, so nothing is removed on the evidence of one moment (`judgeUnknown`).
 * @returns the round: compares Asterisk's lists with the stored calls. Rejects, and removes nothing, without the storage
 */
export function createLeftovers(deps: LeftoversDeps): (found: Calls) => Promise<void> {
  const { ari, app, store } = deps
  let sightings: Sightings = new Map()

  async function unusedBridges({ bridges }: Calls): Promise<readonly string[]> {
    const used = new Set<string>()
    for (const { tenant, sessionId } of await store.unfinished()) {
      for (const bridge of (await store.load(tenant, sessionId))?.session.bridges ?? []) used.add(bridge)
    }
    const isUnused = ({ id, name, channels }: Calls['bridges'][number]): boolean =>
      name === bridgeName(app) && channels.length === 0 && !used.has(id)
    return bridges.filter(isUnused).map(({ id }) => id)
  }

  return async (found) => {
    const before = sightings
    sightings = new Map()
    const [unknown, bridges] = [await findUnknown(deps, found), await unusedBridges(found)]
    // After the reads: an emptied Redis knows no call.
    await deps.verifyStorage()
    const judgement = judgeUnknown(before, unknown, deps.now())
    sightings = judgement.sightings
    deps.onUnknown({ count: unknown.length, isHeldBack: judgement.isHeldBack })
    for (const id of judgement.leftovers) await ari.request('DELETE', channelPath(id))
    for (const id of bridges) await ari.request('DELETE', bridgePath(id))
  }
}

/** In how many rounds a channel was unknown and alone, and since when (milliseconds since 1970). */
interface Sighting {
  readonly rounds: number
  readonly sinceMs: number
}

export type Sightings = ReadonlyMap<string, Sighting>

/** A call that has just begun, or a replica with an older view, makes a channel unknown for one round at most. */
export const MIN_ROUNDS = 3
/** An operator who restores Redis has this time before anything is removed. */
export const MIN_UNKNOWN_MS = 3 * 60_000
/** Leftovers are rare. More unknown channels in one round mean that calls were lost in Redis. */
export const MAX_AT_ONCE = 5

/**
 * Decides which unknown channels are leftovers: those that stayed unknown, without another party to talk to, for several
 * rounds and some minutes. If they are more than are removed together, all are held back. Pure.
 * @returns `leftovers`: the channels to remove now
 */
export function judgeUnknown(
  before: Sightings,
  unknown: readonly Pick<UnknownChannel, 'id' | 'isTalking'>[],
  nowMs: number,
) {
  const sightings = new Map<string, Sighting>()
  for (const { id } of unknown.filter(({ isTalking }) => !isTalking)) {
    const { rounds, sinceMs } = before.get(id) ?? { rounds: 0, sinceMs: nowMs }
    sightings.set(id, { rounds: rounds + 1, sinceMs })
  }
  const isOld = ({ rounds, sinceMs }: Sighting): boolean => rounds >= MIN_ROUNDS && nowMs - sinceMs >= MIN_UNKNOWN_MS
  const old = [...sightings].filter(([, sighting]) => isOld(sighting)).map(([id]) => id)
  const isHeldBack = old.length > MAX_AT_ONCE
  return { sightings, leftovers: isHeldBack ? [] : old, isHeldBack }
}
