import { CallState } from '@switchhook/contracts'
import { getOrCreate } from '@switchhook/runtime'
import { nameOfNotice } from './check-notices.ts'
import {
  type AcceptedCall,
  type Content,
  isInLapse,
  isInLostBroker,
  isNotice,
  isRolledBack,
  type Lapse,
  type Notice,
  type Observation,
  type Post,
} from './observation.ts'
import type { Problem } from './problem.ts'

/** The events of one leg of a call or of one agent, at any endpoint. They are numbered from 1 without a gap. */
interface Stream {
  /** The times of the events with each number. A number has more than one only if Redis lost the first event. */
  readonly sequences: Map<number, Set<number>>
  readonly ends: Set<number>
}

export type Streams = ReadonlyMap<string, Stream>

const streamOf = (content: Exclude<Content, Notice | { readonly kind: 'platform' }>): string =>
  content.kind === 'leg' ? legOf(content) : `agent ${content.agentUri}`

export function streamsOf(posts: readonly Post[]): Streams {
  const streams = new Map<string, Stream>()
  for (const { content, occurredAtMs } of posts) {
    if (content.kind === 'platform' || isNotice(content)) continue
    const name = streamOf(content)
    const stream = getOrCreate(streams, name, () => ({ sequences: new Map(), ends: new Set() }))
    getOrCreate(stream.sequences, content.sequence, () => new Set()).add(occurredAtMs)
    if (content.kind === 'leg' && content.state === CallState.ended) stream.ends.add(content.sequence)
  }
  return streams
}

/** Names an event. If its number was used twice, the name includes the time. */
export function nameOf({ content, occurredAtMs }: Post, streams: Streams): string {
  if (isNotice(content)) return nameOfNotice(content)
  if (content.kind === 'platform') return `platform ${content.eventId}`
  const stream = streamOf(content)
  return nameInStream(stream, content.sequence, occurredAtMs, streams.get(stream))
}

function nameInStream(name: string, sequence: number, occurredAtMs: number, stream: Stream | undefined): string {
  const isRepeated = (stream?.sequences.get(sequence)?.size ?? 0) > 1
  return `${name} ${sequence}${isRepeated ? ` of ${new Date(occurredAtMs).toISOString()}` : ''}`
}

const lastOf = ({ sequences }: Stream): number => Math.max(...sequences.keys())
const firstAtMs = ({ sequences }: Stream): number => Math.min(...[...sequences.values()].flatMap((times) => [...times]))

type Losses = Pick<Observation, 'lapses' | 'brokerLosses'>

const legOf = ({ callId, agentUri }: Pick<AcceptedCall, 'callId' | 'agentUri'>): string => `leg ${callId} ${agentUri}`

const mayBeLost = ({ lapses, brokerLosses }: Losses, atMs: number): boolean =>
  isInLapse(lapses, atMs) || isInLostBroker(brokerLosses, atMs)

/**
 * Every event of the streams, including those that are missing between others, and the first event of every accepted call:
 * its answer has promised it, whatever was recorded.
 */
export function eventsOf(streams: Streams, observation: Losses & Pick<Observation, 'calls'>): string[] {
  const unseen = observation.calls.filter((call) => !streams.has(legOf(call)) && !mayBeLost(observation, call.atMs))
  const seen = [...streams].flatMap(([name, stream]) => [
    ...[...stream.sequences].flatMap(([sequence, times]) =>
      [...times].map((occurredAtMs) => nameInStream(name, sequence, occurredAtMs, stream)),
    ),
    ...gapsOf(stream, observation).map((sequence) => `${name} ${sequence}`),
  ])
  return [...seen, ...unseen.map((call) => `${legOf(call)} 1`)]
}

/** Numbers that no endpoint received, except where Redis or the broker may have lost the event. */
function gapsOf(stream: Stream, losses: Losses): number[] {
  const gaps: number[] = []
  let next = lastOf(stream)
  for (let sequence = next - 1; sequence >= 1; sequence--) {
    if (stream.sequences.has(sequence)) {
      next = sequence
      continue
    }
    const isLost = [...(stream.sequences.get(next) ?? [])].some((atMs) => mayBeLost(losses, atMs))
    if (!isLost && !mayBeLost(losses, firstAtMs(stream))) gaps.push(sequence)
  }
  return gaps.toReversed()
}

/** Numbers whose event is not later than that of the number before; at least 1 ms is promised. Numbers that were used twice are not compared. */
function stepsBack({ sequences }: Stream, { lapses }: Losses): number[] {
  const once = [...sequences]
    .flatMap(([sequence, [atMs = 0, ...others]]) => (others.length === 0 ? [{ sequence, atMs }] : []))
    .filter(({ atMs }) => !isInLapse(lapses, atMs))
    .toSorted((a, b) => a.sequence - b.sequence)
  return once.flatMap(({ sequence, atMs }, at) => (atMs <= (once[at - 1]?.atMs ?? 0) ? [sequence] : []))
}

/**
 * Checks that each stream runs from 1 without a gap, uses each number once, goes forward in time, and that each leg has an
 * end, and each leg of an accepted call a beginning before it. If Redis lost writes, a call that began in that time may be missing, and events at the end of a stream may be lost;
 * their numbers are then used again. If the broker lost its messages, events of that time may be missing, but no number is
 * used again.
 */
export function checkStreams(observation: Observation, streams: Streams): Problem[] {
  const { calls, lapses } = observation
  const problems: Problem[] = []
  for (const call of calls) {
    if (!streams.get(legOf(call))?.ends.has(1) || mayBeLost(observation, call.atMs)) continue
    problems.push({ kind: 'no beginning', what: `${legOf(call)}: accepted, but its first event is its end` })
  }
  for (const [name, stream] of streams) {
    for (const sequence of gapsOf(stream, observation)) {
      problems.push({ kind: 'gap', what: `${name}: no endpoint received ${sequence}` })
    }
    for (const [sequence, times] of stream.sequences) {
      if (times.size === 1 || [...times].some((atMs) => isInLapse(lapses, atMs))) continue
      problems.push({ kind: 'sequence number used twice', what: `${name} ${sequence}` })
    }
    for (const sequence of stepsBack(stream, observation)) {
      problems.push({ kind: 'time goes back', what: `${name} ${sequence}` })
    }
    const hasEnded = !name.startsWith('leg ') || stream.ends.has(lastOf(stream))
    if (!hasEnded && !mayBeLost(observation, firstAtMs(stream))) problems.push({ kind: 'no end', what: name })
  }
  return problems
}

/**
 * Whether a rollback of Redis may have lost the write of this event, so that it is recorded again under another id. An event is
 * written when it occurs, except the beginning of a dial that the platform had not reported: the write of the leg's next event
 * includes it, with the time of the dial (docs/architecture.md). If that write was lost, the number of the next event is used
 * again as well.
 */
export function mayBeRecordedAgain(
  { content, occurredAtMs }: Post,
  streams: Streams,
  lapses: readonly Lapse[],
): boolean {
  if (isRolledBack(lapses, occurredAtMs)) return true
  if (content.kind !== 'leg' || content.sequence !== 1 || content.state !== CallState.initiated) return false
  const next = streams.get(legOf(content))?.sequences.get(2) ?? new Set<number>()
  return next.size > 1 && [...next].some((atMs) => isRolledBack(lapses, atMs))
}

/** Counts the numbers that more than one event has. */
export const countRepeated = (streams: Streams): number =>
  [...streams.values()].flatMap(({ sequences }) => [...sequences.values()].filter(({ size }) => size > 1)).length
