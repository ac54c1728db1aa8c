import type { PbxMemory, Surroundings } from '@switchhook/platform'
import { bridgeName, HOLDING } from '../actions/carry-out.ts'
import { type AriClient, bridgePath, channelPath, createAriClient } from '../ari/ari-client.ts'
import type { AriBridge, AriChannel } from '../ari/ari-model.ts'
import { readMark, type SessionName } from '../ari/channel-mark.ts'
import { type Calls, hasChannel, reach, readCalls } from '../ari/read-calls.ts'
import type { AsteriskSettings } from '../asterisk-config.ts'
import { isLive } from '../session/session.ts'
import { loadSession, type SessionStore } from '../store/session-store.ts'

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

/** A channel of this application that belongs to no stored call. */
interface UnknownChannel {
  readonly id: string
  /** Another channel is in the same bridge or call, or it waits on music: people probably talk, or one of them is on hold. */
  readonly isTalking: boolean
  readonly channel: AriChannel
  /** The call that the channel is marked with. */
  readonly session: SessionName
}

/** A customer on hold is alone in a holding bridge, without the agent's open line, which carries the mark of the line. */
const isInUse = ({ channels, bridge_type: type }: AriBridge): boolean => channels.length > 1 || type === HOLDING

interface FindUnknownDeps {
  readonly app: string
  readonly ari: Pick<AriClient, 'request'>
  readonly store: Pick<SessionStore, 'load'>
}

async function findUnknown(
  { app, ari, store }: FindUnknownDeps,
  { channels, bridges }: Calls,
): Promise<readonly UnknownChannel[]> {
  const talking = new Set(bridges.filter(isInUse).flatMap((bridge) => bridge.channels))
  const unknown: Omit<UnknownChannel, 'isTalking'>[] = []
  const ended = new Set<AriChannel>()
  for (const channel of channels) {
    const { id } = channel
    const session = readMark(app, channel)
    if (session === undefined) continue
    const stored = (await store.load(session.tenant, session.sessionId))?.session
    if (stored?.channels.some((one) => one.id === id && isLive(one)) === true) continue
    if (await hasChannel(ari, id)) unknown.push({ id, channel, session })
    else ended.add(channel)
  }
  // In a call on hold, each party is alone in a bridge.
  const nameOf = (channel: AriChannel): string => JSON.stringify(readMark(app, channel))
  const existing = channels.filter((channel) => !ended.has(channel))
  const byCall = Map.groupBy(existing, nameOf)
  return unknown.map((one) => {
    const hasOther = talking.has(one.id) || (byCall.get(nameOf(one.channel))?.length ?? 0) > 1
    return { ...one, isTalking: hasOther }
  })
}

interface UnknownOptions extends Pick<AsteriskSettings, 'server' | 'app'> {
  readonly memory: Pick<PbxMemory, 'read'>
  /** Rejects unless the memory holds the calls of an installation. */
  readonly verifyStorage: () => Promise<void>
}

export type UnknownInAsterisk = ReturnType<typeof openUnknown>

/** For an operator: the channels in Asterisk without a stored call. */
export function openUnknown({ server, app, memory, verifyStorage }: UnknownOptions) {
  const ari = createAriClient(server)
  const store: FindUnknownDeps['store'] = { load: (tenant, callId) => loadSession(memory, tenant, callId) }
  return {
    /** @throws PlatformUnavailable if Asterisk cannot be reached; rejects as `verifyStorage` does */
    async list(): Promise<readonly UnknownChannel[]> {
      await reach(ari)
      const unknown = await findUnknown({ app, ari, store }, await readCalls(ari))
      // After the reads: an emptied Redis knows no call.
      await verifyStorage()
      return unknown
    },
    /**
     * Ends a channel, even during a conversation. Resolves if it is gone already.
     * @throws AriUnavailable, or Error if Asterisk refuses
     */
    async remove({ id }: Pick<UnknownChannel, 'id'>): Promise<void> {
      const path = channelPath(id)
      const { status } = await ari.request('DELETE', path)
      const isGone = (status >= 200 && status < 300) || status === 404
      if (!isGone) throw new Error(`Asterisk answered ${status} to DELETE ${path}`)
    },
    close: (): Promise<void> => ari.close(),
  }
}
