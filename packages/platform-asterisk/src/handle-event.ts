import { type Devices, WITHHELD } from '@switchhook/platform'
import { LRUCache } from 'lru-cache'
import { tellTransfer } from './actions/tell-phone.ts'
import type { PbxAgents } from './agents.ts'
import { type AriClient, channelPath } from './ari/ari-client.ts'
import type { AriChannel } from './ari/ari-model.ts'
import { arrivedCallId, readMark, type SessionName } from './ari/channel-mark.ts'
import { hasChannel, readVariable } from './ari/read-calls.ts'
import type { PbxEvent } from './ari/translate-event.ts'
import type { OpenLines } from './open-lines.ts'
import type { Parties } from './parties.ts'
import { type Arrival, beginArrival, beginDial } from './session/begin.ts'
import type { Input } from './session/input.ts'
import type { Sessions } from './store/sessions.ts'

export interface HandlerDeps {
  readonly agents: PbxAgents
  readonly app: string
  readonly ari: AriClient
  readonly devices: Devices
  readonly lines: OpenLines
  readonly parties: Parties
  readonly sessions: Sessions
  readonly onError: (message: string, error: unknown) => void
  readonly now: () => number
}

const NO_SUCH_NUMBER = '1'
const ARRIVALS_REMEMBERED = 1_000
/** Values of the header `Privacy` (RFC 3323, RFC 3325). */
const HIDES_CALLER = /\b(id|user|header)\b/i

export function createHandler(deps: HandlerDeps): (event: PbxEvent) => Promise<void> {
  const { agents, app, ari, devices, lines, parties, sessions, onError, now } = deps
  /** Channels that arrived here, until Asterisk repeats our mark in their events. */
  const arrived = new LRUCache<string, SessionName>({ max: ARRIVALS_REMEMBERED })

  /** Transfers that phones have asked for. Their events come twice, because the phones' endpoints are subscribed to. */
  const asked = new LRUCache<string, true>({ max: ARRIVALS_REMEMBERED })

  async function once(
    { channel, at }: Extract<PbxEvent, { kind: 'phone-transfers' | 'phone-joins' }>,
    work: () => Promise<void>,
  ) {
    const transfer = `${channel.id} ${at}`
    if (asked.has(transfer)) return
    await work()
    // Last: an event that could not be stored is handled again.
    asked.set(transfer, true)
  }

  const sessionOf = (channel: AriChannel): SessionName | undefined => readMark(app, channel) ?? arrived.get(channel.id)

  async function callOf(channel: AriChannel): Promise<SessionName | undefined> {
    const session = sessionOf(channel)
    const agent = session && lines.agentOf(session)
    return agent === undefined ? session : lines.callOn(agent, channel.id)
  }

  async function applyTo(channel: AriChannel, input: Input): Promise<void> {
    const session = sessionOf(channel)
    if (session === undefined) return
    const agent = lines.agentOf(session)
    if (agent === undefined) await sessions.apply(session.tenant, session.sessionId, input)
    else await lines.apply(agent, input)
    // Last: an event that could not be stored is handled again.
    if (input.kind === 'gone') arrived.delete(channel.id)
  }

  const refuse = async ({ id }: AriChannel): Promise<void> =>
    void (await ari.request('DELETE', channelPath(id), { reason_code: NO_SUCH_NUMBER }))

  /** Never rejects: the second copy of the event would be handled, too, when the transfer may be possible. */
  const declineTransfer = ({ id }: AriChannel): Promise<void> =>
    tellTransfer(ari, id, 'declined').catch((error: unknown) =>
      onError('a phone was not told that its transfer is declined', error),
    )

  /** A number that the caller withholds is in the event all the same (RFC 3325). */
  async function callerOf({ id, name: channelName, caller }: AriChannel): Promise<Pick<Arrival, 'from' | 'name'>> {
    const [presentation, privacy] = await Promise.all([
      readVariable(ari, id, 'CALLERID(num-pres)'),
      // Asterisk heeds the header only next to an identity that it trusts (`trust_id_inbound`).
      channelName.startsWith('PJSIP/') ? readVariable(ari, id, 'PJSIP_HEADER(read,Privacy)') : undefined,
    ])
    const { number, name } = caller
    const isWithheld = presentation?.startsWith('prohib') === true || HIDES_CALLER.test(privacy ?? '')
    if (isWithheld || number === '' || number.toLowerCase() === WITHHELD) return { from: WITHHELD }
    return { from: number, ...(name !== '' && name !== number && { name }) }
  }

  async function arrives({ channel, asteriskId, ...event }: Extract<PbxEvent, { kind: 'arrives' }>): Promise<void> {
    const agent = agents.calledAt(event.called)
    if (agent === undefined) return refuse(channel)
    const { tenant, agentUri } = agent
    const callId = arrivedCallId(asteriskId, channel)
    arrived.set(channel.id, { tenant, sessionId: callId })
    const { refusal, ...called } = await parties.called(tenant, agentUri)
    const arrival = { tenant, callId, ...callersEnd(channel), ...(await callerOf(channel)), called, refusal }
    await sessions.begin(beginArrival(arrival, now()))
  }

  async function phoneDials(event: Extract<PbxEvent, { kind: 'phone-dials' }>): Promise<void> {
    const { channel, endpoint, asteriskId } = event
    const agent = agents.atEndpoint(endpoint)
    if (agent === undefined) return refuse(channel)
    const { tenant, agentUri } = agent
    const callId = arrivedCallId(asteriskId, channel)
    arrived.set(channel.id, { tenant, sessionId: callId })
    const { refusal, ...called } = await parties.called(tenant, event.called)
    const cli = called.kind === 'outside' ? parties.cliOf(null) : null
    const dial = { commandId: null, cli, correlationId: null, ...callersEnd(channel) }
    const caller = parties.agent(tenant, agentUri)
    await sessions.begin(beginDial({ tenant, callId, caller, called, refusal, ...dial }, now()))
  }

  async function lineOpens({ channel, endpoint }: Extract<PbxEvent, { kind: 'line-opens' }>): Promise<void> {
    const agent = agents.atEndpoint(endpoint)
    if (agent?.answer !== 'connected') return refuse(channel)
    // A marked channel was stored before. Redis may have lost it, or holds an older line that is gone.
    const isListed = readMark(app, channel) !== undefined
    if (isListed && ((await lines.isOpen(agent)) || !(await hasChannel(ari, channel.id)))) return
    arrived.set(channel.id, lines.sessionOf(agent))
    await lines.opens(agent, channel.id)
  }

  async function phoneTransfers({ channel, target }: Extract<PbxEvent, { kind: 'phone-transfers' }>): Promise<void> {
    if (sessionOf(channel) === undefined) return
    const call = await callOf(channel)
    if (target === null || call === undefined) return declineTransfer(channel)
    await sessions.apply(call.tenant, call.sessionId, {
      kind: 'phone-transfers',
      channelId: channel.id,
      target: { ...(await parties.called(call.tenant, target)), asked: target },
    })
  }

  async function phoneJoins({ channel, other }: Extract<PbxEvent, { kind: 'phone-joins' }>): Promise<void> {
    if (sessionOf(channel) === undefined) return
    const [call, otherCall] = await Promise.all([callOf(channel), callOf(other)])
    const how = { channelId: channel.id, otherChannelId: other.id }
    const joined = call && otherCall && (await sessions.join(call, otherCall, how))
    if (call === undefined || joined === undefined) return declineTransfer(channel)
    await sessions.apply(call.tenant, joined.callId, { kind: 'completeTransfer', commandId: null, ...joined })
  }

  return async (event) => {
    switch (event.kind) {
      case 'channel':
        return applyTo(event.channel, event.input)
      case 'arrives':
        return arrives(event)
      case 'phone-dials':
        return phoneDials(event)
      case 'line-opens':
        return lineOpens(event)
      case 'phone-transfers':
        return once(event, () => phoneTransfers(event))
      case 'phone-joins':
        return once(event, () => phoneJoins(event))
      case 'device': {
        const agent = agents.atEndpoint(event.endpoint)
        if (agent !== undefined) await devices.set(agent.tenant, agent.agentUri, event.online)
      }
    }
  }
}

const callersEnd = ({ id, state }: AriChannel) => ({ channelId: id, isUp: state === 'Up' })
