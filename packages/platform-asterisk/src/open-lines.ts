import type { Tenant } from '@switchhook/contracts'
import type { Surroundings } from '@switchhook/platform'
import type { PbxAgent, PbxAgents } from './agents.ts'
import { lineSession, type SessionName } from './ari/channel-mark.ts'
import { beginLine } from './session/begin.ts'
import type { Input } from './session/input.ts'
import { type Channel, isLive } from './session/session.ts'
import type { Sessions } from './store/sessions.ts'

export interface OpenLinesDeps extends Pick<Surroundings, 'liveCalls' | 'now'> {
  readonly agents: PbxAgents
  readonly sessions: Pick<Sessions, 'apply' | 'begin' | 'find'>
}

export type OpenLines = ReturnType<typeof createOpenLines>

/** The call that is on the line, those that wait for it, and those that ring. */
const CONCERNS_CALLS: readonly Input['kind'][] = ['gone', 'end-asked', 'phone-holds', 'phone-resumes']

const sessionOf = ({ tenant, agentUri }: PbxAgent): SessionName => lineSession(tenant, agentUri)

/** The lines of agents with `answer: connected`, who open them at the phone and keep them open between calls. */
export function createOpenLines({ agents, sessions, liveCalls, now }: OpenLinesDeps) {
  const withLine = agents.all.filter(({ answer }) => answer === 'connected')
  const bySession = new Map(withLine.map((agent) => [sessionOf(agent).sessionId, agent]))

  const callsOf = async ({ tenant, agentUri }: PbxAgent): Promise<readonly SessionName[]> =>
    (await liveCalls(tenant, agentUri)).map(({ callId }) => ({ tenant, sessionId: callId }))

  /** The call that is on the line now; undefined: none, or the call is on hold. */
  async function callOn(agent: PbxAgent, channelId: string): Promise<SessionName | undefined> {
    for (const name of await callsOf(agent)) {
      const session = await sessions.find(name.tenant, name.sessionId)
      const isHere = session?.channels.some(({ id, state, bridge }) => {
        return id === channelId && state === 'up' && bridge !== null
      })
      if (isHere === true) return name
    }
    return undefined
  }

  const channelsOf = async (agent: PbxAgent): Promise<readonly Channel[]> =>
    (await sessions.find(agent.tenant, sessionOf(agent).sessionId))?.channels ?? []

  return {
    sessionOf,
    callOn,
    /** The agent whose line has this session; undefined: it is a call. */
    agentOf: ({ tenant, sessionId }: SessionName): PbxAgent | undefined => {
      const agent = bySession.get(sessionId)
      return agent?.tenant === tenant ? agent : undefined
    },
    /** The line's channel; undefined: it is closed, or the agent has none. */
    async channelOf(tenant: Tenant, agentUri: string): Promise<string | undefined> {
      const agent = agents.find(tenant, agentUri)
      if (agent?.answer !== 'connected') return undefined
      return (await channelsOf(agent)).find(({ state, isLeaving }) => state === 'up' && !isLeaving)?.id
    },
    /** The agent has a line, which may not be answered yet. */
    isOpen: async (agent: PbxAgent): Promise<boolean> => (await channelsOf(agent)).some(isLive),
    async opens(agent: PbxAgent, channelId: string): Promise<void> {
      const line = sessionOf(agent)
      const opens = { kind: 'line-opens', agentUri: agent.agentUri, channelId } as const
      const isKnown = await sessions.apply(line.tenant, line.sessionId, opens)
      if (!isKnown) await sessions.begin(beginLine(line, opens, now()))
    },
    /** Applies an event of the line's channel to the line and, if it concerns them, to the agent's calls. */
    async apply(agent: PbxAgent, input: Input): Promise<void> {
      const line = sessionOf(agent)
      await sessions.apply(line.tenant, line.sessionId, input)
      if (!CONCERNS_CALLS.includes(input.kind)) return
      // Read last: until here the line may have been lent to a call that begins.
      for (const { tenant, sessionId } of await callsOf(agent)) await sessions.apply(tenant, sessionId, input)
    },
  }
}
