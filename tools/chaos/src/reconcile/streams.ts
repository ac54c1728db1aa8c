import { nameOfNotice } from './judge-notices.ts'
import { isInLapse } from './lapses.ts'
import { isNotice, type Lapse, type Observation, type Post, type Told } from './observation.ts'
import type { Problem } from './reconcile.ts'

/** What was told, at any endpoint, of one leg of a call or of one agent: numbered from 1 without a gap. */
interface Stream {
  /** When the events with this number occurred. There is more than one only if Redis lost the first one. */
  readonly sequences: Map<number, Set<number>>
  readonly ends: Set<number>
}

export type Streams = ReadonlyMap<string, Stream>

function streamOf(told: Told): string | undefined {
  if (told.kind === 'own' || isNotice(told)) return undefined
  return told.kind === 'leg' ? `leg ${told.callId} ${told.agentUri}` : `agent ${told.agentUri}`
}

export function streamsOf(posts: readonly Post[]): Streams {
  const streams = new Map<string, Stream>()
  for (const { told, occurredAtMs } of posts) {
    const name = streamOf(told)
    if (name === undefined || told.kind === 'own' || isNotice(told)) continue
    const stream = streams.get(name) ?? { sequences: new Map<number, Set<number>>(), ends: new Set<number>() }
    streams.set(name, stream)
    const times = stream.sequences.get(told.sequence) ?? new Set()
    stream.sequences.set(told.sequence, times.add(occurredAtMs))
    if (told.kind === 'leg' && told.isEnd) stream.ends.add(told.sequence)
  }
  return streams
}

/** Names an event. A number that was used twice does not name one: the time is added. */
export function nameOf({ told, occurredAtMs }: Post, streams: Streams): string {
  if (isNotice(told)) return nameOfNotice(told)
  if (told.kind === 'own') return `own ${told.eventId}`
  const stream = streamOf(told) ?? ''
  return nameInStream(stream, told.sequence, occurredAtMs, streams.get(stream))
}

function nameInStream(name: string, sequence: number, occurredAtMs: number, stream: Stream | undefined): string {
  const isRepeated = (stream?.sequences.get(sequence)?.size ?? 0) > 1
  return `${name} ${sequence}${isRepeated ? ` of ${new Date(occurredAtMs).toISOString()}` : ''}`
}

const lastOf = ({ sequences }: Stream): number => Math.max(...sequences.keys())
const firstAtMs = ({ sequences }: Stream): number => Math.min(...[...sequences.values()].flatMap((times) => [...times]))

/** Every event that the streams show, and those that are missing between them. */
export function eventsOf(streams: Streams, lapses: readonly Lapse[]): string[] {
  return [...streams].flatMap(([name, stream]) => [
    ...[...stream.sequences].flatMap(([sequence, times]) =>
      [...times].map((occurredAtMs) => nameInStream(name, sequence, occurredAtMs, stream)),
    ),
    ...gapsOf(stream, lapses).map((sequence) => `${name} ${sequence}`),
  ])
}

/** Numbers that no receiver was told, except where Redis may have lost the event. */
function gapsOf(stream: Stream, lapses: readonly Lapse[]): number[] {
  const gaps: number[] = []
  let next = lastOf(stream)
  for (let sequence = next - 1; sequence >= 1; sequence--) {
    if (stream.sequences.has(sequence)) {
      next = sequence
      continue
    }
    const isLost = [...(stream.sequences.get(next) ?? [])].some((atMs) => isInLapse(lapses, atMs))
    if (!isLost && !isInLapse(lapses, firstAtMs(stream))) gaps.push(sequence)
  }
  return gaps.toReversed()
}

/**
 * Each stream is told from 1 without a gap, each number once, and a leg to its end. A Redis that lost writes may have lost a call that
 * began at that time, or events at the end of a stream; then their numbers are used again.
 */
export function checkStreams({ calls, lapses }: Observation, streams: Streams): Problem[] {
  const problems: Problem[] = []
  for (const { callId, agentUri, atMs } of calls) {
    const name = `leg ${callId} ${agentUri}`
    if (streams.has(name) || isInLapse(lapses, atMs)) continue
    problems.push({ kind: 'missing', what: `${name}: accepted, and nothing was told of it` })
  }
  for (const [name, stream] of streams) {
    for (const sequence of gapsOf(stream, lapses)) {
      problems.push({ kind: 'gap', what: `${name}: nobody was told ${sequence}` })
    }
    for (const [sequence, times] of stream.sequences) {
      if (times.size === 1 || [...times].some((atMs) => isInLapse(lapses, atMs))) continue
      problems.push({ kind: 'number used twice', what: `${name} ${sequence}` })
    }
    const hasEnded = !name.startsWith('leg ') || stream.ends.has(lastOf(stream))
    if (!hasEnded && !isInLapse(lapses, firstAtMs(stream))) problems.push({ kind: 'without an end', what: name })
  }
  return problems
}

/** Events with a number that another event has as well. */
export const countRepeated = (streams: Streams): number =>
  [...streams.values()].flatMap(({ sequences }) => [...sequences.values()].filter(({ size }) => size > 1)).length
