import type { ChannelInput } from '../session/input.ts'
import type { AriChannel, AriEndpoint, AriEvent } from './ari-model.ts'

export type PbxEvent =
  | { readonly kind: 'channel'; readonly channel: AriChannel; readonly input: PlainInput }
  /** A caller from outside has dialled this number. */
  | { readonly kind: 'arrives'; readonly channel: AriChannel; readonly called: string; readonly asteriskId: string }
  | {
      readonly kind: 'phone-dials'
      readonly channel: AriChannel
      readonly called: string
      readonly endpoint: string
      readonly asteriskId: string
    }
  /** An agent has dialled the number that opens the line. */
  | { readonly kind: 'line-opens'; readonly channel: AriChannel; readonly endpoint: string }
  /** A blind transfer to a number. `target` null: a transfer of another kind. */
  | { readonly kind: 'phone-transfers'; readonly channel: AriChannel; readonly target: string | null }
  /** An attended transfer of the call on `channel` to the party on `other`, which is a channel of the same phone. */
  | { readonly kind: 'phone-joins'; readonly channel: AriChannel; readonly other: AriChannel }
  | { readonly kind: 'device'; readonly endpoint: string; readonly online: boolean }

type PlainInput = Exclude<ChannelInput, { kind: 'phone-transfers' | 'refused' }>

/** Of `ChannelHangupRequest` with `soft`, where `cause` is a flag and not Q.850. */
const SHUTDOWN_FLAG = 4

/** Pure. undefined: the adapter does not need the event. */
export function translateEvent(event: AriEvent): PbxEvent | undefined {
  const { channel, endpoint } = event
  if (event.type === 'ContactStatusChange' || event.type === 'PeerStatusChange')
    return endpoint && deviceEvent(endpoint)
  if (event.type === 'ChannelTransfer') return phoneTransfer(event)
  if (channel === undefined) return undefined
  if (event.type === 'StasisStart') return entered(channel, event.args ?? [], event.asterisk_id ?? '')
  const input = inputOf(event, channel)
  return input && { kind: 'channel', channel, input }
}

/** undefined: Asterisk does not know the state of the phone. */
export const deviceEvent = ({ resource: endpoint, state }: AriEndpoint): PbxEvent | undefined =>
  state === 'online' || state === 'offline' ? { kind: 'device', endpoint, online: state === 'online' } : undefined

/** A channel has entered the application: one of ours, or one that the dialplan hands over. */
export function entered(channel: AriChannel, args: readonly string[], asteriskId: string): PbxEvent | undefined {
  const [how, first = '', second = ''] = args
  if (how === 'inbound') return { kind: 'arrives', channel, called: first, asteriskId }
  if (how === 'agent-dial') return { kind: 'phone-dials', channel, endpoint: first, called: second, asteriskId }
  if (how === 'agent-line') return { kind: 'line-opens', channel, endpoint: first }
  const input: PlainInput = { kind: 'ready', channelId: channel.id, isUp: channel.state === 'Up' }
  return { kind: 'channel', channel, input }
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

function phoneTransfer({ referred_by, refer_to }: AriEvent): PbxEvent | undefined {
  const channel = referred_by?.source_channel
  if (channel === undefined) return undefined
  const other = refer_to?.destination_channel
  if (other !== undefined) return { kind: 'phone-joins', channel, other }
  return { kind: 'phone-transfers', channel, target: refer_to?.requested_destination?.destination ?? null }
}
