import type { ChannelInput } from '../session/input.ts'
import type { AriChannel, AriEndpoint, AriEvent } from './ari-model.ts'

export type PbxEvent = NonNullable<ReturnType<typeof translateEvent>>

type PlainInput = Exclude<ChannelInput, { kind: 'phone-transfers' | 'refused' }>

/** Of `ChannelHangupRequest` with `soft`, where `cause` is a flag and not Q.850. */
const SHUTDOWN_FLAG = 4

/** Pure. undefined: the adapter does not need the event. */
export function translateEvent(event: AriEvent) {
  const { channel, endpoint } = event
  if (event.type === 'ContactStatusChange' || event.type === 'PeerStatusChange')
    return endpoint && deviceEvent(endpoint)
  if (event.type === 'ChannelTransfer') return phoneTransfer(event)
  if (event.type === 'Dial') return progress(event)
  if (channel === undefined) return undefined
  if (event.type === 'StasisStart') return entered(channel, event.args ?? [], event.asterisk_id ?? '')
  const input = inputOf(event, channel)
  return input && ({ kind: 'channel', channel, input } as const)
}

/** undefined: Asterisk does not know the state of the phone. */
export function deviceEvent({ resource: endpoint, state }: AriEndpoint) {
  if (state !== 'online' && state !== 'offline') return undefined
  return { kind: 'device', endpoint, online: state === 'online' } as const
}

/** A channel has entered the application: one of ours, or one that the dialplan hands over. */
export function entered(channel: AriChannel, args: readonly string[], asteriskId: string) {
  const [how, first = '', second = ''] = args
  // A caller from outside has dialled the number `called`.
  if (how === 'inbound') return { kind: 'arrives', channel, called: first, asteriskId } as const
  if (how === 'agent-dial')
    return { kind: 'phone-dials', channel, endpoint: first, called: second, asteriskId } as const
  // An agent has dialled the number that opens the line.
  if (how === 'agent-line') return { kind: 'line-opens', channel, endpoint: first } as const
  const input: PlainInput = { kind: 'ready', channelId: channel.id, isUp: channel.state === 'Up' }
  return { kind: 'channel', channel, input } as const
}

function inputOf(event: AriEvent, { id: channelId, state }: AriChannel): PlainInput | undefined {
  switch (event.type) {
    case 'ChannelStateChange':
      if (state === 'Ringing') return { kind: 'ringing', channelId }
      return state === 'Up' ? { kind: 'up', channelId } : undefined
    case 'ChannelHold':
      return { kind: 'phone-holds', channelId }
    case 'ChannelUnhold':
      return { kind: 'phone-resumes', channelId }
    case 'ChannelHangupRequest':
      if (event.soft !== true) return { kind: 'end-asked', channelId, by: 'party' }
      return event.cause === SHUTDOWN_FLAG ? { kind: 'end-asked', channelId, by: 'shutdown' } : undefined
    case 'ChannelDestroyed':
      return { kind: 'gone', channelId, cause: event.cause ?? 0, sipCode: sipCodeOf(event.tech_cause) }
    default:
      return undefined
  }
}

const sipCodeOf = (techCause: number | undefined): number | null =>
  techCause !== undefined && techCause >= 300 && techCause <= 699 ? techCause : null

/** The party has answered 183, perhaps without 180: it rings, or an announcement says what goes on. */
function progress({ dialstatus, peer: channel }: AriEvent) {
  if (dialstatus !== 'PROGRESS' || channel === undefined) return undefined
  return { kind: 'channel', channel, input: { kind: 'ringing', channelId: channel.id } } as const
}

function phoneTransfer({ referred_by, refer_to, state, timestamp: at }: AriEvent) {
  const channel = referred_by?.source_channel
  // Asterisk repeats the event with what we tell the phone. Taken for a request, it would begin the transfer again.
  if (channel === undefined || state !== undefined) return undefined
  const other = refer_to?.destination_channel
  // An attended transfer of the call on `channel` to the party on `other`, which is a channel of the same phone.
  if (other !== undefined) return { kind: 'phone-joins', at, channel, other } as const
  const target = refer_to?.requested_destination?.destination ?? null
  // A blind transfer to a number. `target` null: a transfer of another kind.
  return { kind: 'phone-transfers', at, channel, target } as const
}
