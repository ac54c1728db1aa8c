import { DOWN_FOR_LONG } from '../subscribers/behaviour.ts'
import { checkClosures, checkRetries } from './check-closures.ts'
import { checkDelivery } from './check-delivery.ts'
import { exhaustedAndForgotten, mayExhaust } from './check-exhausted.ts'
import { checkExpiry, isExpired } from './check-expiry.ts'
import { checkNotices, countNotices, expectedNotices } from './check-notices.ts'
import { checkReceivers } from './check-receivers.ts'
import { checkRecovery } from './check-recovery.ts'
import {
  type Content,
  type Endpoint,
  isAcknowledgement,
  isInLostBroker,
  isRolledBack,
  type Observation,
  type ParkedNotice,
  type Post,
} from './observation.ts'
import { type Problem, problemsOf } from './problem.ts'
import { checkStreams, countRepeated, eventsOf, mayBeRecordedAgain, nameOf, streamsOf } from './streams.ts'

export type Reconciliation = ReturnType<typeof reconcile>

/**
 * Checks that everything was delivered. Each subscription that lasted for the whole run must have acknowledged each event
 * of its types, or the delivery must be parked because its receiver rejected it. Expected are the confirmed events, the
 * events of accepted calls, and every event that any subscription got. Only a `Lapse` or a `BrokerLoss` excuses anything.
 */
export function reconcile(observation: Observation) {
  const { endpoints, posts, parked, lapses, recoveries, receivers, left, notReady } = observation
  const streams = streamsOf(posts)
  const notices = expectedNotices(observation)
  const confirmed = observation.confirmed.map((eventId) => `platform ${eventId}`)
  const expected = new Set([...confirmed, ...notices, ...eventsOf(streams, observation)])
  const nameOfPost = (post: Post): string => nameOf(post, streams)
  const typeOfPost = (post: Post): string => typeOf(nameOfPost(post))
  const problems: Problem[] = checkStreams(observation, streams)
  const add = (kind: Problem['kind'], what: string): void => void problems.push({ kind, what })

  /** The first POST of each event. */
  const samples = new Map(posts.toReversed().map((post) => [nameOfPost(post), post]))
  const filters = new Map(endpoints.map(({ name, passes }) => [name, passes]))
  for (const post of posts) {
    if (filters.get(post.endpoint)?.(post.content) === false)
      add('not filtered', `${nameOfPost(post)} at ${post.endpoint}`)
  }

  const deliveries = Map.groupBy(posts, ({ deliveryId }) => deliveryId)
  const ofReceivers = new Set(receivers.flatMap(({ subscriptionIds }) => subscriptionIds))
  // A duplicate of an event that finds its delivery parked publishes the notice again.
  const publishesOf = (content: Content | undefined): number => {
    if (content?.kind === 'parked') {
      // The POSTs of the receivers are not recorded.
      if (ofReceivers.has(content.subscriptionId)) return Infinity
      return publishesOf(deliveries.get(content.deliveryId)?.[0]?.content)
    }
    return (content?.kind === 'platform' && observation.publishes.get(content.eventId)) || 1
  }
  const checked = [...deliveries.values()].map((of) => checkDelivery(of, publishesOf(of[0]?.content), observation))
  problems.push(...checked.flatMap((check) => check.problems))
  problems.push(...checkClosures(observation, typeOfPost), ...checkRetries(observation), ...checkExpiry(observation))

  const parkedIds = new Set(parked.map(({ deliveryId }) => deliveryId))
  const isForgotten = (of: readonly Post[]): boolean =>
    of.some((post) => isRejection(post) && isRolledBack(lapses, post.atMs))
  const mayBeInLostBroker = eventsInLostBroker(observation, nameOfPost)
  const byEvent = Map.groupBy(posts, (post) => `${post.endpoint} ${nameOfPost(post)}`)
  /** How each delivery that is owed has ended. */
  const ends = { acknowledged: 0, parked: 0, expired: 0, forgotten: 0, lostWithBroker: 0, missing: 0 }
  let recordedAgain = 0
  const missingAtDead: Problem[] = []
  function endOf(endpoint: Endpoint, event: string, of: readonly Post[]): keyof typeof ends {
    const sample = samples.get(event)
    if (of.some(isAcknowledgement)) return 'acknowledged'
    if (of.some(({ deliveryId }) => parkedIds.has(deliveryId)) && of.some(isRejection)) return 'parked'
    if (isExpired(observation, endpoint, sample)) return 'expired'
    if (isForgotten(of) || mayBeLostInRedis(lapses, endpoint, sample)) return 'forgotten'
    return mayBeInLostBroker.has(event) ? 'lostWithBroker' : 'missing'
  }
  for (const endpoint of endpoints) {
    for (const event of expected) {
      const sample = samples.get(event)
      // What no endpoint got is missing where there is no filter.
      const passes = endpoint.passes === undefined || (sample !== undefined && endpoint.passes(sample.content))
      if (!receives(endpoint, event) || !passes) continue
      const of = byEvent.get(`${endpoint.name} ${event}`) ?? []
      const ids = new Set(of.map(({ deliveryId }) => deliveryId))
      // An event that Redis lost may be recorded again with the same time and number, but another event id.
      if (ids.size > 1 && of.some((one) => mayBeRecordedAgain(one, streams, lapses))) recordedAgain += 1
      else if (ids.size > 1) add('two deliveries of one event', `${event} at ${endpoint.name}, of ${occurrencesOf(of)}`)
      const end = endOf(endpoint, event, of)
      ends[end] += 1
      if (end !== 'missing') continue
      const list = endpoint.name === DOWN_FOR_LONG ? missingAtDead : problems
      list.push({ kind: 'missing', what: `${event} at ${endpoint.name} (${of.length} POSTs)` })
    }
  }
  if (missingAtDead.length > exhaustedAndForgotten(observation)) problems.push(...missingAtDead)
  else {
    ends.missing -= missingAtDead.length
    ends.forgotten += missingAtDead.length
  }

  for (const { endpoint, deliveryId, reason } of parked) {
    if (reason === 'rejected' && deliveries.get(deliveryId)?.some(isRejection)) continue
    if (reason === 'exhausted' && mayExhaust(observation, endpoint)) continue
    add('wrongly parked', `${deliveryId} at ${endpoint}: ${reason}`)
  }
  for (const [deliveryId, of] of deliveries) {
    if (!of.some(isRejection) || of.some(isAcknowledgement) || parkedIds.has(deliveryId) || isForgotten(of)) continue
    add('rejected, not parked', `${deliveryId} at ${of[0]?.endpoint}`)
  }
  for (const [queue, count] of Object.entries(left)) if (count > 0) add('left in a queue', `${count} in ${queue}`)
  const nameOfSubscription = new Map(endpoints.map(({ subscriptionId, name }) => [subscriptionId, name]))
  const mayPark = ({ deliveryId, subscriptionId }: ParkedNotice): boolean =>
    deliveries.get(deliveryId)?.some(isRejection) === true ||
    mayExhaust(observation, nameOfSubscription.get(subscriptionId)) ||
    // Its process is killed again and again.
    ofReceivers.has(subscriptionId)
  problems.push(...checkNotices(observation, mayPark))
  const isDone = (deliveryId: string): boolean => deliveries.get(deliveryId)?.some(isAcknowledgement) === true
  problems.push(...recoveries.flatMap((recovery) => checkRecovery(recovery, lapses, isDone)))
  problems.push(...checkReceivers(observation), ...problemsOf('not ready', notReady))

  const exhausted = recoveries.filter(({ endpoint }) => endpoint === DOWN_FOR_LONG)
  if (mayExhaust(observation, DOWN_FOR_LONG) && exhausted.length === 0)
    add('nothing was exhausted', `${DOWN_FOR_LONG} was down for a whole schedule`)

  // `figuresOf` (report.ts) names each count.
  return {
    problems,
    events: expected.size,
    legs: [...streams.keys()].filter((stream) => stream.startsWith('leg ')).length,
    /** One for each event and each subscription that must get it. */
    deliveries: sum(Object.values(ends)),
    ...ends,
    recovered: sum(recoveries.map(({ sent }) => sent)),
    exhausted: sum(exhausted.map(({ sent }) => sent)),
    repeated: countRepeated(streams),
    /** Deliveries of an event that was recorded again, with the same content, after Redis lost it. */
    recordedAgain,
    /** Effects of the killed receivers, one for each event and receiver. */
    applied: sum(receivers.map(({ each }) => each.length)),
    closures: observation.closures.length,
    /** Each notice counts once, regardless of the number of subscriptions. */
    notices: countNotices(observation),
    posts: posts.length,
    // Each is explained in `checkDelivery`.
    changedNotices: sum(checked.map(({ changedNotices }) => changedNotices)),
    duplicates: sum(checked.map(({ duplicates }) => duplicates)),
    stepsBack: sum(checked.map(({ stepsBack }) => stepsBack)),
    repeatedAttempts: sum(checked.map(({ repeatedAttempts }) => repeatedAttempts)),
  }
}

/** The events of which a message may have been in the broker when it lost everything. */
function eventsInLostBroker(
  { posts, brokerLosses }: Observation,
  nameOfPost: (post: Post) => string,
): ReadonlySet<string> {
  if (brokerLosses.length === 0) return new Set()
  return new Set([
    ...brokerLosses.flatMap(({ confirmed }) => [...confirmed].map((eventId) => `platform ${eventId}`)),
    ...posts.filter(({ occurredAtMs }) => isInLostBroker(brokerLosses, occurredAtMs)).map(nameOfPost),
  ])
}

const receives = ({ eventTypes }: Endpoint, event: string): boolean => eventTypes.includes(typeOf(event))

/** Events of the other platform are published as `call.status`. */
function typeOf(event: string): string {
  const [kind, eventType = ''] = event.split(' ')
  if (kind === 'notice') return eventType
  return kind === 'agent' ? 'agent.status' : 'call.status'
}

/** Redis may have lost the delivery of this event that waited to be pulled, or that it had expired: RabbitMQ no longer has it. */
function mayBeLostInRedis(
  lapses: Observation['lapses'],
  { mode, expireAfterSeconds }: Endpoint,
  first: Post | undefined,
): boolean {
  if (first === undefined || !(mode === 'pull' || expireAfterSeconds !== undefined)) return false
  const withinMs = mode === 'pull' ? HELD_WITHIN_MS : EXPIRED_WITHIN_MS
  const wider = lapses.map((lapse) => ({ ...lapse, fromMs: lapse.fromMs - withinMs }))
  return [first.occurredAtMs, first.atMs].some((atMs) => isRolledBack(wider, atMs))
}

/** After a fault, an event is held at most this long after it occurred or another subscription got it. */
const HELD_WITHIN_MS = 10_000
/** Likewise, a delivery expires: the schedule has ended. */
const EXPIRED_WITHIN_MS = 45_000

/** Statuses that the specification does not retry. */
const isRejection = ({ status }: Post): boolean =>
  status !== null && status >= 300 && status < 500 && ![408, 425, 429].includes(status)

/** When the events of these POSTs occurred: a fault at that time explains a repetition. */
const occurrencesOf = (of: readonly Post[]): string =>
  [...new Set(of.map(({ occurredAtMs }) => new Date(occurredAtMs).toISOString()))].join(', ')

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
