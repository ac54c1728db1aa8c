import { judgeDelivery } from './judge-delivery.ts'
import { countNotices, expectedNotices, isNotice, judgeNotices, nameOfNotice } from './judge-notices.ts'
import { judgeRecovery } from './judge-recovery.ts'
import type { Endpoint, Notice, Observation, Post, Told } from './observation.ts'

export interface Problem {
  readonly kind:
    | 'missing'
    | 'gap'
    | 'without an end'
    | 'two deliveries of one event'
    | 'body changed'
    | 'headers changed'
    | 'signature or headers'
    | 'attempt number'
    | 'wrongly parked'
    | 'rejected, not parked'
    | 'left in a queue'
    | 'not ready'
    | 'recovery'
    | 'notice of a notice'
    | 'told as parked, never rejected'
    | 'failing, and not told'
  readonly what: string
}

export interface Verdict {
  readonly problems: readonly Problem[]
  readonly events: number
  readonly legs: number
  /** One for each event and subscription that has to get it. */
  readonly deliveries: number
  readonly acknowledged: number
  readonly parked: number
  /** Sent again by the recovery. */
  readonly recovered: number
  /** By what they tell: each is one event, however many subscriptions it went to. */
  readonly notices: Readonly<Record<Notice['kind'], number>>
  readonly posts: number
  /** POSTs of a delivery that had been acknowledged before. */
  readonly duplicates: number
  /** POSTs whose attempt number was lower than one before, each explained by a disturbance. */
  readonly stepsBack: number
}

/**
 * Was everything delivered? Event by event and subscription by subscription: each was acknowledged at least once, or is
 * parked because its receiver rejected it. Expected is what was confirmed, what follows from an accepted call, and what
 * anybody has seen: an event that reached one subscription is owed to all.
 */
export function reconcile(observation: Observation): Verdict {
  const { endpoints, posts, parked, disturbances, left, notReady } = observation
  const streams = streamsOf(observation)
  const expected = expectedEvents(observation.confirmed, streams, expectedNotices(observation))
  const problems: Problem[] = [...judgeStreams(observation.calls, streams)]

  const deliveries = groupBy(posts, ({ deliveryId }) => deliveryId)
  const judged = [...deliveries.values()].map((of) => judgeDelivery(of, disturbances))
  problems.push(...judged.flatMap((judgement) => judgement.problems))

  const parkedIds = new Set(parked.map(({ deliveryId }) => deliveryId))
  const byEvent = groupBy(posts, ({ endpoint, told }) => `${endpoint} ${nameOf(told)}`)
  let owed = 0
  let acknowledged = 0
  let parkedRightly = 0
  for (const endpoint of endpoints) {
    for (const event of expected) {
      if (!receives(endpoint, event)) continue
      owed += 1
      const of = byEvent.get(`${endpoint.name} ${event}`) ?? []
      const ids = new Set(of.map(({ deliveryId }) => deliveryId))
      const [id = ''] = ids
      if (ids.size > 1) problems.push({ kind: 'two deliveries of one event', what: `${event} at ${endpoint.name}` })
      if (of.some(isAcknowledgement)) acknowledged += 1
      else if (parkedIds.has(id) && of.some(isRejection)) parkedRightly += 1
      else problems.push({ kind: 'missing', what: `${event} at ${endpoint.name} (${of.length} POSTs)` })
    }
  }

  for (const { endpoint, deliveryId, reason } of parked) {
    if (deliveries.get(deliveryId)?.some(isRejection) && reason === 'rejected') continue
    problems.push({ kind: 'wrongly parked', what: `${deliveryId} at ${endpoint}: ${reason}` })
  }
  for (const [deliveryId, of] of deliveries) {
    if (!of.some(isRejection) || of.some(isAcknowledgement) || parkedIds.has(deliveryId)) continue
    problems.push({ kind: 'rejected, not parked', what: `${deliveryId} at ${of[0]?.endpoint}` })
  }
  for (const [queue, count] of Object.entries(left)) {
    if (count > 0) problems.push({ kind: 'left in a queue', what: `${count} in ${queue}` })
  }
  problems.push(...judgeNotices(observation, (id) => deliveries.get(id)?.some(isRejection) === true))
  problems.push(...judgeRecovery(observation.recovery))
  problems.push(...notReady.map((what): Problem => ({ kind: 'not ready', what })))

  return {
    problems,
    events: expected.size,
    legs: [...streams.keys()].filter((stream) => stream.startsWith('leg ')).length,
    deliveries: owed,
    acknowledged,
    parked: parkedRightly,
    recovered: observation.recovery.sent,
    notices: countNotices(observation),
    posts: posts.length,
    duplicates: sum(judged.map(({ duplicates }) => duplicates)),
    stepsBack: sum(judged.map(({ stepsBack }) => stepsBack)),
  }
}

/** What was told, by anybody, of one leg of a call or of one agent. */
interface Stream {
  readonly sequences: Set<number>
  end: number | undefined
}

/** Numbered from 1 without a gap. */
const streamOf = (told: Told): string | undefined => {
  if (told.kind === 'own' || isNotice(told)) return undefined
  return told.kind === 'leg' ? `leg ${told.callId} ${told.agentUri}` : `agent ${told.agentUri}`
}

function nameOf(told: Told): string {
  if (isNotice(told)) return nameOfNotice(told)
  return told.kind === 'own' ? `own ${told.eventId}` : `${streamOf(told)} ${told.sequence}`
}

function streamsOf({ posts }: Observation): ReadonlyMap<string, Stream> {
  const streams = new Map<string, Stream>()
  for (const { told } of posts) {
    const name = streamOf(told)
    if (name === undefined || told.kind === 'own' || isNotice(told)) continue
    const stream = streams.get(name) ?? { sequences: new Set(), end: undefined }
    streams.set(name, stream)
    stream.sequences.add(told.sequence)
    if (told.kind === 'leg' && told.isEnd) stream.end = told.sequence
  }
  return streams
}

const lastOf = ({ sequences }: Stream): number => Math.max(...sequences)

function expectedEvents(
  confirmed: readonly string[],
  streams: ReadonlyMap<string, Stream>,
  notices: readonly string[],
): ReadonlySet<string> {
  const events = new Set([...confirmed.map((eventId) => `own ${eventId}`), ...notices])
  for (const [name, stream] of streams) {
    for (let sequence = 1; sequence <= lastOf(stream); sequence++) events.add(`${name} ${sequence}`)
  }
  return events
}

const receives = ({ eventTypes }: Endpoint, event: string): boolean => eventTypes.includes(typeOf(event))

/** Own events are published as `call.status`. */
function typeOf(event: string): string {
  const [kind, eventType = ''] = event.split(' ')
  if (kind === 'notice') return eventType
  return kind === 'agent' ? 'agent.status' : 'call.status'
}

function judgeStreams(calls: Observation['calls'], streams: ReadonlyMap<string, Stream>): Problem[] {
  const problems: Problem[] = []
  for (const { callId, agentUri } of calls) {
    const name = `leg ${callId} ${agentUri}`
    if (!streams.has(name)) problems.push({ kind: 'missing', what: `${name}: accepted, and nothing was told of it` })
  }
  for (const [name, stream] of streams) {
    for (let sequence = 1; sequence <= lastOf(stream); sequence++) {
      if (!stream.sequences.has(sequence)) problems.push({ kind: 'gap', what: `${name}: nobody was told ${sequence}` })
    }
    const isLeg = name.startsWith('leg ')
    if (isLeg && stream.end !== lastOf(stream)) problems.push({ kind: 'without an end', what: name })
  }
  return problems
}

const isAcknowledgement = ({ status }: Post): boolean => status !== null && status >= 200 && status < 300

/** What the specification does not try again. */
const isRejection = ({ status }: Post): boolean =>
  status !== null && status >= 300 && status < 500 && ![408, 425, 429].includes(status)

function groupBy<T>(list: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of list) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
