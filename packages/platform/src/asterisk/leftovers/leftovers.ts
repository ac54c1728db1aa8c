import type { Surroundings } from '../../storage.ts'
import type { AriClient } from '../ari/ari-client.ts'
import { bridgeName } from '../ari/carry-out.ts'
import type { Calls } from '../ari/read-calls.ts'
import type { SessionStore } from '../store/session-store.ts'
import { judgeUnknown, type Sightings } from './leftover-rule.ts'
import { findUnknown } from './unknown-channels.ts'

export interface LeftoversDeps extends Pick<Surroundings, 'now'> {
  readonly ari: Pick<AriClient, 'request'>
  readonly app: string
  readonly store: Pick<SessionStore, 'load' | 'unfinished'>
  /** Rejects unless the storage holds the calls of this installation. */
  readonly verifyStorage: () => Promise<void>
  readonly onUnknown: (unknown: UnknownChannels) => void
}

/** Channels that belong to no stored call, as of the latest round. */
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
    const [unknown, bridges] = [await findUnknown(app, store, found), await unusedBridges(found)]
    // After the reads: an emptied Redis knows no call.
    await deps.verifyStorage()
    const judgement = judgeUnknown(before, unknown, deps.now())
    sightings = judgement.sightings
    deps.onUnknown({ count: unknown.length, isHeldBack: judgement.isHeldBack })
    for (const id of judgement.leftovers) await ari.request('DELETE', `/channels/${encodeURIComponent(id)}`)
    for (const id of bridges) await ari.request('DELETE', `/bridges/${encodeURIComponent(id)}`)
  }
}
