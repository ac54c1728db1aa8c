import type { PbxMemory } from '@switchhook/platform'
import { HOLDING } from '../actions/carry-out.ts'
import { type AriClient, channelPath, createAriClient } from '../ari/ari-client.ts'
import type { AriBridge, AriChannel } from '../ari/ari-model.ts'
import { readMark, type SessionName } from '../ari/channel-mark.ts'
import { type Calls, hasChannel, reach, readCalls } from '../ari/read-calls.ts'
import type { AsteriskSettings } from '../asterisk-config.ts'
import { isLive } from '../session/session.ts'
import { loadSession, type SessionStore } from '../store/session-store.ts'

/** A channel of this application that belongs to no stored call. */
export interface UnknownChannel {
  readonly id: string
  /** Another channel is in the same bridge or call, or it waits on music: people probably talk, or one of them is on hold. */
  readonly isTalking: boolean
  readonly channel: AriChannel
  /** The call that the channel is marked with. */
  readonly session: SessionName
}

/** A customer on hold is alone in a holding bridge, without the agent's open line, which carries the mark of the line. */
const isInUse = ({ channels, bridge_type: type }: AriBridge): boolean => channels.length > 1 || type === HOLDING

export interface FindUnknownDeps {
  readonly app: string
  readonly ari: Pick<AriClient, 'request'>
  readonly store: Pick<SessionStore, 'load'>
}

export async function findUnknown(
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

export interface UnknownOptions extends Pick<AsteriskSettings, 'server' | 'app'> {
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
