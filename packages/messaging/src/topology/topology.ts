import { crc32 } from 'node:zlib'
import type { SubscriptionId } from '@switchhook/contracts'

/** What has to exist on the broker, as data: it is compared in tests and declared at each connection. */
export interface Topology {
  readonly exchanges: Readonly<Record<string, 'topic' | 'direct' | 'fanout' | 'headers'>>
  /** Exchange → the exchange that gets its messages when none of its own bindings match. */
  readonly alternates?: Readonly<Record<string, string>>
  /** Queue name → its arguments. An argument can never change once the queue exists: another value needs another name. */
  readonly queues: Readonly<Record<string, Readonly<Record<string, string | number>>>>
  readonly bindings: readonly Binding[]
  /** Bindings from one exchange to another. */
  readonly links?: readonly Link[]
  /** Bindings of former versions, removed once everything else is declared. */
  readonly obsolete?: readonly Binding[]
}

/** A binding whose target is an exchange. */
interface Link extends Binding {
  readonly arguments?: Readonly<Record<string, string | boolean>>
}

export interface Binding {
  readonly from: string
  readonly key: string
  readonly to: string
}

/** Public seam: events of any platform come in here, and anyone may bind a queue to receive all events. */
export const EVENTS_EXCHANGE = 'switchhook.events'

/** Private: leads to `fanout.events` and to no other queue, so that a confirm proves that the event is there. */
export const FANOUT_EXCHANGE = 'switchhook.fanout'

/** Sorts what comes from the public exchange: copies of our own events end here, all others go to fan-out. */
const INTAKE_EXCHANGE = 'switchhook.intake'
/** Has no bindings: copies of our own events end here, after the queues of others have taken them. */
const COPIES_EXCHANGE = 'switchhook.copies'

/** Header of a copy on the public exchange, whose original was published to fan-out. */
export const COPY_HEADER = 'switchhook-copy'

/** Routed by the name of the queue that is meant. */
export const DELIVERY_EXCHANGE = 'switchhook.delivery'

export const Queue = {
  fanoutEvents: 'fanout.events',
  /** The first shard, and where waits end. */
  deliveryDue: 'delivery.due',
  /** Requests to try out an endpoint: a queue of their own, as nothing of what happens to deliveries happens to them. */
  receiverChecks: 'delivery.checks',
  /** What cannot be understood, or failed too often; a person looks at it. */
  quarantine: 'quarantine',
} as const

/** The highest number of shards that can be configured. */
export const MOST_SHARDS = 64

/** Deliveries that are due, in so many queues that no single queue's leader is the limit; by default in one. */
const dueQueue = (shard: number): string => (shard === 0 ? Queue.deliveryDue : `${Queue.deliveryDue}.${shard}`)
export const dueQueues = (shards: number): readonly string[] => Array.from({ length: shards }, (_, n) => dueQueue(n))
/** Any shard would do, as every worker consumes all of them; by the subscription, one endpoint's burst stays in one. */
export const dueQueueFor = (subscription: SubscriptionId, shards: number): string =>
  dueQueue(crc32(subscription) % shards)

/** Named by the wait, not by its place in the schedule: a new schedule adds queues and redeclares none. */
export const waitQueue = (waitMs: number): string => `delivery.wait.${waitMs}`

/** Where deliveries wait for a turn whose subscription has as many in hand as it may have. */
export const laneQueue = (lane: number): string => `delivery.lane.${lane}`
export const laneQueues = (lanes: number): readonly string[] =>
  Array.from({ length: lanes }, (_, lane) => laneQueue(lane))

/** On a queue that nobody consumes, only looking at its messages counts; that must never move one. */
const UNLIMITED_LOOKS = 1_000_000_000

/** Explicit everywhere, as the default differs between RabbitMQ 3 (none) and 4 (20). */
const DELIVERY_LIMIT = 20

/** At-least-once dead-lettering holds only together with reject-publish; otherwise it falls back silently. */
const deadLetterTo = (key: string) => ({
  'x-dead-letter-exchange': DELIVERY_EXCHANGE,
  'x-dead-letter-routing-key': key,
  'x-dead-letter-strategy': 'at-least-once',
  'x-overflow': 'reject-publish',
})

const quorum = { 'x-queue-type': 'quorum' }
const work = { ...quorum, ...deadLetterTo(Queue.quarantine), 'x-delivery-limit': DELIVERY_LIMIT }
const idle = { ...quorum, 'x-delivery-limit': UNLIMITED_LOOKS }

/**
 * Everything that a service needs to find on the broker. Who sends deliveries to a wait queue names its waits, who moves
 * them aside the number of its lanes, who sends or takes due ones the number of shards; for all others `[]` will do.
 */
export function serviceTopology(waitsMs: readonly number[], lanes = 0, shards = 1): Topology {
  const waits = [...new Set(waitsMs)]
  const workQueues = [...dueQueues(shards), ...laneQueues(lanes), Queue.receiverChecks]
  const waitQueues = waits.map((ms) => [
    waitQueue(ms),
    { ...idle, ...deadLetterTo(Queue.deliveryDue), 'x-message-ttl': ms },
  ])
  return {
    exchanges: {
      [EVENTS_EXCHANGE]: 'topic',
      [DELIVERY_EXCHANGE]: 'direct',
      [FANOUT_EXCHANGE]: 'fanout',
      [COPIES_EXCHANGE]: 'fanout',
      [INTAKE_EXCHANGE]: 'headers',
    },
    alternates: { [INTAKE_EXCHANGE]: FANOUT_EXCHANGE },
    queues: {
      [Queue.quarantine]: { ...idle, 'x-overflow': 'reject-publish' },
      [Queue.fanoutEvents]: work,
      ...Object.fromEntries(workQueues.map((name) => [name, work])),
      ...Object.fromEntries(waitQueues),
    },
    bindings: [
      // The targets of dead letters come first: a message never waits in a queue whose way out is not there yet.
      ...[Queue.quarantine, ...workQueues, ...waits.map(waitQueue)].map((name) => ({
        from: DELIVERY_EXCHANGE,
        key: name,
        to: name,
      })),
      { from: FANOUT_EXCHANGE, key: '#', to: Queue.fanoutEvents },
    ],
    links: [
      { from: INTAKE_EXCHANGE, key: '', to: COPIES_EXCHANGE, arguments: { 'x-match': 'all', [COPY_HEADER]: true } },
      { from: EVENTS_EXCHANGE, key: '#', to: INTAKE_EXCHANGE },
    ],
    obsolete: [{ from: EVENTS_EXCHANGE, key: '#', to: Queue.fanoutEvents }],
  }
}

/** Into how many queues a topology divides the deliveries that are due. */
export const shardsOf = ({ queues }: Topology): number =>
  Object.keys(queues).filter((name) => name === Queue.deliveryDue || name.startsWith(`${Queue.deliveryDue}.`)).length

/** Whether a message that is published there should find a queue. */
export const hasRoute = ({ bindings }: Topology, exchange: string, routingKey: string): boolean =>
  bindings.some(({ from, key }) => from === exchange && (key === routingKey || key === '#'))

/** Exchanges and queues that a topology refers to but does not have, and dead-letter keys that lead nowhere. */
export function danglingNames({ exchanges, alternates = {}, queues, bindings, links = [] }: Topology): string[] {
  const names = [
    ...[...bindings, ...links].map(({ from }) => from).filter((name) => !(name in exchanges)),
    ...bindings.map(({ to }) => to).filter((name) => !(name in queues)),
    ...[...links.map(({ to }) => to), ...Object.entries(alternates).flat()].filter((name) => !(name in exchanges)),
  ]
  const deadLetters = Object.values(queues).flatMap((queue) => {
    const exchange = queue['x-dead-letter-exchange']
    const key = queue['x-dead-letter-routing-key']
    if (exchange === undefined) return []
    if (!(exchange in exchanges)) return [String(exchange)]
    return bindings.some((binding) => binding.from === exchange && binding.key === key) ? [] : [String(key)]
  })
  return [...new Set([...names, ...deadLetters])]
}
