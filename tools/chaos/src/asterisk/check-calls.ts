import type { Schemas } from '@switchhook/client'
import { CallState, Direction, EndReason } from '@switchhook/contracts'
import type { AcceptedCall, Disturbance } from '../reconcile/observation.ts'

/** One received `call.status`. Times are milliseconds since 1970. */
export type LegEvent = Pick<
  Schemas['CallStatus'],
  'callId' | 'agentUri' | 'sequence' | 'state' | 'direction' | 'endReason' | 'commandId'
> & { readonly occurredAtMs: number; readonly receivedAtMs: number }

/** A channel in Asterisk's own log. */
export interface ChannelRecord {
  /** `<callId>-<number>` for a channel that Switchhook placed. */
  readonly id: string
  /** `PJSIP/<endpoint>-<number>`. */
  readonly name: string
  readonly startedAtMs: number
  readonly answeredAtMs: number | null
  readonly endedAtMs: number | null
}

export interface Observed {
  readonly events: readonly LegEvent[]
  /** The calls whose dial was accepted. */
  readonly dialled: readonly Omit<AcceptedCall, 'atMs'>[]
  readonly channels: readonly ChannelRecord[]
  readonly disturbances: readonly Disturbance[]
  /** When Asterisk was killed, so that it could not log the ends of its channels. */
  readonly killsAtMs: readonly number[]
  /** The endpoint of each agent. */
  readonly endpoints: ReadonlyMap<string, string>
}

/** From an event of Asterisk to the report of its effect. */
const REPORTED_WITHIN_MS = 2_000
const TRUNK = 'pstn'

type Leg = ReturnType<typeof legsOf>[number]
/** The channels of each call that Switchhook placed. */
type Channels = ReadonlyMap<string, readonly ChannelRecord[]>

/**
 * Compares the events that a subscriber received with Asterisk's own log of its channels. Pure.
 * @returns a sentence per contradiction
 */
export function checkCalls(observed: Observed): readonly string[] {
  const legs = legsOf(observed.events)
  const byCall = channelsByCall(observed.channels)
  return [
    ...legs.flatMap(checkStream),
    ...missingLegs(observed, legs),
    ...[...byCall].flatMap(([callId, channels]) => checkEnds(observed, callId, channels)),
    ...unreportedCalls(byCall, legs),
    ...legs.flatMap((leg) => (isDisturbed(observed, leg) ? [] : checkAgainstLog(observed, leg, byCall))),
  ]
}

function legsOf(all: readonly LegEvent[]) {
  const byLeg = Map.groupBy(all, ({ callId, agentUri }) => `${callId} ${agentUri}`)
  return [...byLeg].map(([name, received]) => {
    const [callId = '', agentUri = ''] = name.split(' ')
    // A delivery may arrive twice.
    const bySequence = new Map(received.map((event) => [event.sequence, event]))
    const events = [...bySequence.values()].toSorted((a, b) => a.sequence - b.sequence)
    return { name, callId, agentUri, events }
  })
}

/** Every leg is numbered without a gap and ends exactly once, with its last event. */
function checkStream({ name, events }: Leg): readonly string[] {
  const ends = events.filter(({ state }) => state === CallState.ended).length
  return [
    ...(events.every(({ sequence }, at) => sequence === at + 1) ? [] : [`${name}: the sequence has a gap`]),
    ...(ends === 1 ? [] : [`${name}: it ended ${ends} times`]),
    ...(ends === 1 && events.at(-1)?.state !== CallState.ended ? [`${name}: an event follows its end`] : []),
  ]
}

const missingLegs = ({ dialled }: Observed, legs: readonly Leg[]): readonly string[] =>
  dialled
    .filter(({ callId, agentUri }) => !legs.some((leg) => leg.callId === callId && leg.agentUri === agentUri))
    .map(({ callId, agentUri }) => `${callId} ${agentUri}: its dial was accepted, and no event reports it`)

const CHANNEL_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d+$/

function channelsByCall(channels: readonly ChannelRecord[]): Channels {
  const byCall = Map.groupBy(channels, ({ id }) => CHANNEL_ID.exec(id)?.[1] ?? '')
  byCall.delete('')
  return byCall
}

/** No channel outlives its call, unless Asterisk was killed before it could log the end. */
const checkEnds = ({ killsAtMs }: Observed, callId: string, channels: readonly ChannelRecord[]): readonly string[] =>
  channels
    .filter(({ endedAtMs, startedAtMs }) => endedAtMs === null && !killsAtMs.some((atMs) => atMs >= startedAtMs))
    .map(({ name }) => `${callId}: its channel ${name} did not end in Asterisk`)

/** A caller who hangs up before the phone rings is not reported. */
const unreportedCalls = (byCall: Channels, legs: readonly Leg[]): readonly string[] =>
  [...byCall]
    .filter(([callId, channels]) => isAnswered(channels) && !legs.some((leg) => leg.callId === callId))
    .map(([callId]) => `${callId}: a phone answered in Asterisk, and no event reports it`)

const isAnswered = (channels: readonly ChannelRecord[]): boolean =>
  channels.some(({ answeredAtMs }) => answeredAtMs !== null)

function isDisturbed({ disturbances }: Observed, { events }: Leg): boolean {
  const fromMs = (events[0]?.occurredAtMs ?? 0) - REPORTED_WITHIN_MS
  const toMs = (events.at(-1)?.occurredAtMs ?? 0) + REPORTED_WITHIN_MS
  return disturbances.some((one) => one.fromMs <= toMs && one.toMs >= fromMs)
}

/** Without a fault, the events say what Asterisk says: who was answered, and when the agent's phone was released. */
function checkAgainstLog({ endpoints }: Observed, { name, callId, agentUri, events }: Leg, byCall: Channels) {
  const channels = byCall.get(callId) ?? []
  const of = (endpoint: string) => channels.filter((channel) => channel.name.startsWith(`PJSIP/${endpoint}-`))
  const phone = of(endpoints.get(agentUri) ?? '')
  const isTalk = isAnswered(phone) && (events[0]?.direction === Direction.inbound || isAnswered(of(TRUNK)))
  const isReported = events.some(({ state }) => state === CallState.connected)
  const end = events.at(-1)
  const releasedAtMs = Math.max(0, ...phone.map(({ endedAtMs }) => endedAtMs ?? 0))
  const lateMs = end === undefined || releasedAtMs === 0 ? 0 : Math.abs(end.occurredAtMs - releasedAtMs)
  return [
    ...(isTalk === isReported
      ? []
      : [`${name}: answered in Asterisk: ${isTalk}, connected in the events: ${isReported}`]),
    ...(end?.endReason === EndReason.platformLost
      ? [`${name}: it ended with reason 12, and nothing was disturbed`]
      : []),
    ...(lateMs <= REPORTED_WITHIN_MS ? [] : [`${name}: its end is ${lateMs} ms from the end in Asterisk`]),
  ]
}

/** Reads the lines `event,seconds,id,channel` that Asterisk writes (`tools/pbx/asterisk/cel_custom.conf`). Pure. */
export function parseChannelLog(text: string): readonly ChannelRecord[] {
  const channels = new Map<string, ChannelRecord>()
  for (const line of text.split('\n')) {
    const [event = '', seconds, id = '', name = ''] = line.split(',')
    const atMs = Math.round(Number(seconds) * 1_000)
    // An id is used again only after its channel has ended.
    const known = channels.get(id)
    if (event === 'CHAN_START') {
      channels.set(id, { id, name, startedAtMs: atMs, answeredAtMs: null, endedAtMs: null })
    } else if (known !== undefined && event === 'ANSWER') {
      channels.set(id, { ...known, answeredAtMs: known.answeredAtMs ?? atMs })
    } else if (known !== undefined && event === 'CHAN_END') {
      channels.set(id, { ...known, endedAtMs: atMs })
    }
  }
  return [...channels.values()]
}
