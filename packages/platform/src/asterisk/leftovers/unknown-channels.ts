import type { AriBridge, AriChannel } from '../ari/ari-model.ts'
import { HOLDING } from '../ari/carry-out.ts'
import { readMark, type SessionName } from '../ari/channel-mark.ts'
import type { Calls } from '../ari/read-calls.ts'
import { isLive } from '../session/session.ts'
import type { SessionStore } from '../store/session-store.ts'
import type { UnknownChannel } from './leftover-rule.ts'

export interface FoundUnknown extends UnknownChannel {
  readonly channel: AriChannel
  /** The call that the channel is marked with. */
  readonly session: SessionName
}

/** A customer on hold is alone in a holding bridge, without the agent's open line, which carries the mark of the line. */
const isInUse = ({ channels, bridge_type: type }: AriBridge): boolean => channels.length > 1 || type === HOLDING

/** The channels of the application that no stored call has as its own. */
export async function findUnknown(
  app: string,
  store: Pick<SessionStore, 'load'>,
  { channels, bridges }: Calls,
): Promise<readonly FoundUnknown[]> {
  const talking = new Set(bridges.filter(isInUse).flatMap((bridge) => bridge.channels))
  // In a call on hold, each party is alone in a bridge.
  const nameOf = (channel: AriChannel): string => JSON.stringify(readMark(app, channel))
  const byCall = Map.groupBy(channels, nameOf)
  const unknown: FoundUnknown[] = []
  for (const channel of channels) {
    const { id } = channel
    const session = readMark(app, channel)
    if (session === undefined) continue
    const stored = (await store.load(session.tenant, session.sessionId))?.session
    const isKnown = stored?.channels.some((one) => one.id === id && isLive(one)) === true
    const hasOther = talking.has(id) || (byCall.get(nameOf(channel))?.length ?? 0) > 1
    if (!isKnown) unknown.push({ id, isTalking: hasOther, channel, session })
  }
  return unknown
}
