import type { PbxAgents } from './agents.ts'
import type { AriClient } from './ari/ari-client.ts'
import type { AriChannel } from './ari/ari-model.ts'
import { arrivedCallId, readMark, type SessionName } from './ari/channel-mark.ts'
import type { PbxEvent } from './ari/translate-event.ts'
import type { Devices } from './devices.ts'
import type { Parties } from './parties.ts'
import { beginArrival, beginDial } from './session/begin.ts'
import type { Input } from './session/input.ts'
import type { Sessions } from './store/sessions.ts'

export interface HandlerDeps {
  readonly agents: PbxAgents
  readonly app: string
  readonly ari: AriClient
  readonly devices: Devices
  readonly parties: Parties
  readonly sessions: Sessions
  readonly now: () => number
}

const NO_SUCH_NUMBER = '1'
const ARRIVALS_REMEMBERED = 1_000

/** Applies each event to the session that it concerns. */
export function createHandler(deps: HandlerDeps): (event: PbxEvent) => Promise<void> {
  const { agents, app, ari, devices, parties, sessions, now } = deps
  /** Channels that arrived here, until Asterisk repeats our mark in their events. */
  const arrived = new Map<string, SessionName>()

  async function applyTo(channel: AriChannel, input: Input): Promise<void> {
    const session = readMark(app, channel) ?? arrived.get(channel.id)
    if (input.kind === 'gone') arrived.delete(channel.id)
    if (session !== undefined) await sessions.apply(session.tenant, session.sessionId, input)
  }

  function remember(channel: AriChannel, session: SessionName): void {
    arrived.set(channel.id, session)
    const [oldest] = arrived.keys()
    if (arrived.size > ARRIVALS_REMEMBERED && oldest !== undefined) arrived.delete(oldest)
  }

  const refuse = async ({ id }: AriChannel): Promise<void> =>
    void (await ari.request('DELETE', `/channels/${encodeURIComponent(id)}`, { reason_code: NO_SUCH_NUMBER }))

  async function arrives({ channel, called, asteriskId }: Extract<PbxEvent, { kind: 'arrives' }>): Promise<void> {
    const agent = agents.calledAt(called)
    if (agent === undefined) return refuse(channel)
    const { tenant, agentUri } = agent
    const callId = arrivedCallId(asteriskId, channel)
    remember(channel, { tenant, sessionId: callId })
    const { party, refusal } = await parties.called(tenant, agentUri)
    const arrival = { tenant, callId, channelId: channel.id, from: channel.caller.number, called: party, refusal }
    await sessions.begin(beginArrival(arrival, now()))
  }

  async function phoneDials(event: Extract<PbxEvent, { kind: 'phone-dials' }>): Promise<void> {
    const { channel, endpoint, asteriskId } = event
    const agent = agents.atEndpoint(endpoint)
    if (agent === undefined) return refuse(channel)
    const { tenant, agentUri } = agent
    const callId = arrivedCallId(asteriskId, channel)
    remember(channel, { tenant, sessionId: callId })
    const { party: called, refusal } = await parties.called(tenant, event.called)
    const dial = { commandId: null, cli: null, correlationId: null, channelId: channel.id }
    const caller = parties.agent(tenant, agentUri)
    await sessions.begin(beginDial({ tenant, callId, caller, called, refusal, ...dial }, now()))
  }

  async function phoneTransfers({ channel, target }: Extract<PbxEvent, { kind: 'phone-transfers' }>): Promise<void> {
    const session = readMark(app, channel) ?? arrived.get(channel.id)
    if (session === undefined) return
    if (target === null) {
      // The two calls of an attended transfer at the phone belong to two sessions; only a command can join them.
      const path = `/channels/${encodeURIComponent(channel.id)}/transfer_progress`
      return void (await ari.request('POST', path, { states: 'channel_declined' }))
    }
    const { party, refusal } = await parties.called(session.tenant, target)
    await applyTo(channel, {
      kind: 'phone-transfers',
      channelId: channel.id,
      target: { ...party, asked: target, refusal },
    })
  }

  return async (event) => {
    switch (event.kind) {
      case 'channel':
        return applyTo(event.channel, event.input)
      case 'arrives':
        return arrives(event)
      case 'phone-dials':
        return phoneDials(event)
      case 'phone-transfers':
        return phoneTransfers(event)
      case 'device': {
        const agent = agents.atEndpoint(event.endpoint)
        return agent === undefined ? undefined : devices.set(agent, event.online)
      }
    }
  }
}
