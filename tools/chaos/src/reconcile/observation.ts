import type { Schemas } from '@switchhook/client'

/** The fields of a body that identify its event. */
export type Content =
  /** Published to `switchhook.events` by another platform. */
  | { readonly kind: 'platform'; readonly eventId: string }
  | {
      readonly kind: 'leg'
      readonly callId: string
      readonly agentUri: string
      readonly sequence: number
      readonly state: number
    }
  | { readonly kind: 'agent'; readonly agentUri: string; readonly sequence: number; readonly state: number }
  | Notice

/** A notice of the delivery engine (docs/notices.md). `since` is when the outage began: ISO 8601. */
export type Notice =
  | ParkedNotice
  | { readonly kind: 'failing'; readonly subscriptionId: string; readonly since: string }
  | {
      readonly kind: 'recovered'
      readonly subscriptionId: string
      readonly since: string
      /** When it ended. It can end twice, if Redis is away or loses the end. */
      readonly recoveredAt: string
    }

export interface ParkedNotice {
  readonly kind: 'parked'
  readonly subscriptionId: string
  readonly deliveryId: string
  readonly run: number
  /** `ParkedReasonNumber`. */
  readonly reason: number
  /** The event of the parked delivery, and its type. */
  readonly eventId: string
  readonly ofType: string
}

export const isNotice = (content: Content): content is Notice =>
  content.kind === 'parked' || content.kind === 'failing' || content.kind === 'recovered'

/** A POST that arrived completely, or a delivery that was received by pull. */
export interface Post {
  readonly endpoint: string
  readonly deliveryId: string
  readonly eventId: string
  /** `X-SVC-Attempt`. */
  readonly attempt: number
  readonly content: Content
  /** A digest of the body. */
  readonly digest: string
  /** Its `X-SVC-…` headers without `X-SVC-Attempt`. */
  readonly lasting: string
  /** Flaws of its signature and its headers. */
  flaws: readonly string[]
  /** When the receiver read its first byte, in ms since 1970 with fractions (`clock.ts`), and when it had arrived completely. */
  readonly beganAtMs: number
  readonly atMs: number
  readonly occurredAtMs: number
  /** The status of the answer; null if there was none. */
  status: number | null
  /** It was pulled and released, so the same attempt is received again. */
  isReleased?: true
}

export const isAcknowledgement = ({ status }: Post): boolean => status !== null && status >= 200 && status < 300

/** An endpoint and its subscription. */
export interface Endpoint {
  readonly name: string
  readonly subscriptionId: string
  readonly eventTypes: readonly string[]
  /** Its deliveries are held in Redis until they are received in batches, instead of POSTed (puller.ts). */
  readonly mode?: 'pull'
  /** Its filter again, judged without any part of the product; without a filter every event passes. */
  readonly passes?: (content: Content) => boolean
  /** Older events are not sent. */
  readonly expireAfterSeconds?: number
  /** A pull subscription is deleted if its client asks for nothing for so long. Outages do not count. */
  readonly deleteAfterUnusedSeconds?: number
}

/** A delivery that has ended as `expired`, as the api explains it. */
export interface Expired {
  readonly endpoint: string
  readonly eventId: string
  /** When its event occurred, and when it had ended at the latest, in ms since 1970. */
  readonly occurredAtMs: number
  readonly byMs: number
}

/** In ms since 1970. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** From a fault to the recovery from it. */
export interface Disturbance extends Span {
  /** It can leave two duplicates of a message, so that an attempt is repeated. */
  readonly duplicatesMessages?: boolean
  /** It can leave two duplicates of an event or of a first message, so that a first attempt is repeated. */
  readonly duplicatesEvents?: boolean
}

/** An endpoint's port was closed. */
export interface Outage extends Span {
  readonly endpoint: string
}

/** A delivery and the run that ended parked. */
export interface Parked {
  readonly endpoint: string
  readonly deliveryId: string
  readonly run: number
  readonly reason: string
}

/** The state is `done` once it has ended. */
export type RecoveryCounts = Pick<Schemas['Recovery'], 'found' | 'sent' | 'skipped' | 'failed'> & { state: string }

/** A recovery of one endpoint's parked deliveries, and its result. */
export interface RecoverySeen extends RecoveryCounts {
  readonly endpoint: string
  /** When the api accepted it, in ms since 1970. */
  readonly begunAtMs: number
  /** The deliveries that were parked when it began. */
  readonly deliveries: readonly {
    readonly deliveryId: string
    readonly state: string
    readonly run: number
    /** The run that had ended parked. */
    readonly parkedRun: number
  }[]
}

/**
 * After the answer to a change of a subscription, and until the request that undoes it, no first attempt of these event types
 * may begin to arrive. Times have fractions (`clock.ts`).
 */
export interface Closure extends Span {
  readonly endpoint: string
  readonly eventTypes: readonly string[]
}

/** Redis lost everything that was committed from `fromMs` to `toMs`. */
export interface Lapse extends Span {
  /** `rolled back`: the data of `fromMs` was restored. `empty`: Redis ran without data, then its data was restored. */
  readonly kind: 'rolled back' | 'empty'
}

/** RabbitMQ lost every message. */
export interface BrokerLoss {
  /** When it died, in ms since 1970. Anything that occurred later is owed. */
  readonly atMs: number
  /** Ids of the events of the other platform that it had confirmed by then. */
  readonly confirmed: ReadonlySet<string>
}

/** `atMs`: when the answer arrived, in ms since 1970. */
export interface AcceptedCall {
  readonly callId: string
  readonly agentUri: string
  readonly atMs: number
}

/** The last state of a leg or an agent. */
export interface Shown {
  readonly subject: string
  readonly state: number
  readonly sequence: number
  readonly occurredAtMs: number
  readonly isCall: boolean
}

/** The rule for receivers: the later (`occurredAt`, `sequence`) is the newer state. */
export const isLater = (one: Numbered, other: Numbered): boolean =>
  one.occurredAtMs === other.occurredAtMs ? one.sequence > other.sequence : one.occurredAtMs > other.occurredAtMs

type Numbered = Pick<Shown, 'occurredAtMs' | 'sequence'>

/** A subscriber with `@switchhook/receiver` that was killed again and again. */
export interface ReceiverSeen {
  /** Its store. */
  readonly name: string
  /** Of `each`, then of `latest`. */
  readonly subscriptionIds: readonly string[]
  /** Ids of deliveries that it rejected. */
  readonly rejected: readonly string[]
  /** Ids of the events that its handlers have applied, as often as they have: one takes each, one only the latest. */
  readonly each: readonly string[]
  readonly latest: readonly string[]
  /** What it shows, and what the API shows. */
  readonly view: readonly Shown[]
  readonly api: readonly Shown[]
}

/** Everything that was recorded during a run. */
export interface Observation {
  /** The subscriptions that lasted for the whole run. Every event of their types must reach them. */
  readonly endpoints: readonly Endpoint[]
  /** Endpoints whose subscriptions were changed and deleted. Only retries must reach them. */
  readonly guests: readonly string[]
  readonly closures: readonly Closure[]
  /** Ids of the events that were published to `switchhook.events` and confirmed. */
  readonly confirmed: readonly string[]
  /** How many times each of these events was published, confirmed or not. */
  readonly publishes: ReadonlyMap<string, number>
  /** Calls that the api has accepted. */
  readonly calls: readonly AcceptedCall[]
  /** In the order of arrival. */
  readonly posts: readonly Post[]
  readonly parked: readonly Parked[]
  readonly expired: readonly Expired[]
  readonly recoveries: readonly RecoverySeen[]
  readonly disturbances: readonly Disturbance[]
  readonly lapses: readonly Lapse[]
  readonly brokerLosses: readonly BrokerLoss[]
  readonly outages: readonly Outage[]
  readonly receivers: readonly ReceiverSeen[]
  /** Remaining messages, by queue. */
  readonly left: Readonly<Record<string, number>>
  readonly notReady: readonly string[]
}

/** What a run observes that does nothing but load the services. */
export const UNDISTURBED = {
  recoveries: [],
  disturbances: [],
  lapses: [],
  brokerLosses: [],
  receivers: [],
} satisfies Partial<Observation>

/** An event occurs, or a request is answered, at most this long before or after its commit. */
const COMMIT_MS = 1_000

/** Whether Redis may have lost what was committed at this time. */
export const isInLapse = (lapses: readonly Lapse[], atMs: number): boolean =>
  lapses.some(({ fromMs, toMs }) => fromMs - COMMIT_MS <= atMs && atMs <= toMs + COMMIT_MS)

/**
 * Whether a rollback of Redis may have lost what was committed at this time. Only a rollback loses what a worker had
 * already acknowledged to the broker: while Redis is empty, workers wait and their deliveries stay in the broker.
 */
export const isRolledBack = (lapses: readonly Lapse[], atMs: number): boolean =>
  lapses.some((lapse) => lapse.kind === 'rolled back' && isInLapse([lapse], atMs))

/** A fault, for all we know, left duplicates of anything. */
export const DUPLICATES_ANYTHING = { duplicatesMessages: true, duplicatesEvents: true }

/** The longest that a delivery of these runs can wait in the broker: the schedule, and its postponed last slot. */
const IN_BROKER_MS = 60_000

/** Whether a message of an event that occurred at this time may have been in the broker when it lost everything. */
export const isInLostBroker = (losses: readonly BrokerLoss[], occurredAtMs: number): boolean =>
  losses.some(({ atMs }) => atMs - IN_BROKER_MS <= occurredAtMs && occurredAtMs <= atMs)
