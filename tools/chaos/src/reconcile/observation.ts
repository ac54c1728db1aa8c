/** What a body tells of its event, as far as it is needed to know whether all of them came. */
export type Told =
  /** Published by a platform of our own. */
  | { readonly kind: 'own'; readonly eventId: string }
  | {
      readonly kind: 'leg'
      readonly callId: string
      readonly agentUri: string
      readonly sequence: number
      readonly isEnd: boolean
    }
  | { readonly kind: 'agent'; readonly agentUri: string; readonly sequence: number }
  | Notice

/** Of the delivery engine itself (docs/notices.md). */
export type Notice =
  | {
      readonly kind: 'parked'
      readonly subscriptionId: string
      readonly deliveryId: string
      readonly run: number
      /** The type of the event that was to be delivered. */
      readonly ofType: string
    }
  | {
      readonly kind: 'failing' | 'recovered'
      readonly subscriptionId: string
      /** When the outage began: ISO 8601. */
      readonly since: string
    }

export const isNotice = (told: Told): told is Notice =>
  told.kind === 'parked' || told.kind === 'failing' || told.kind === 'recovered'

/** A POST that arrived whole. */
export interface Post {
  readonly endpoint: string
  readonly deliveryId: string
  /** `X-SVC-Attempt`. */
  readonly attempt: number
  readonly told: Told
  /** Of the bytes of the body. */
  readonly digest: string
  /** Its `X-SVC-…` headers but for the attempt. */
  readonly lasting: string
  /** What is wrong with its signature and its headers. */
  flaws: readonly string[]
  /** When the receiver read its first byte, in ms since 1970 with fractions (`clock.ts`). */
  readonly beganAtMs: number
  /** When it arrived whole and when its event occurred, in ms since 1970. */
  readonly atMs: number
  readonly occurredAtMs: number
  /** The status with which it was answered; null: it was not, as the connection ended before. */
  status: number | null
}

/** A subscription, and what is behind it. */
export interface Endpoint {
  readonly name: string
  readonly subscriptionId: string
  readonly eventTypes: readonly string[]
}

/** From when a fault struck to when it was recovered from, in ms since 1970. */
export interface Disturbance {
  readonly fromMs: number
  readonly toMs: number
}

/** Nobody listened at an endpoint, in ms since 1970. */
export interface Absence extends Disturbance {
  readonly endpoint: string
}

/** A delivery, and the run of it that ended parked. */
export interface Parked {
  readonly endpoint: string
  readonly deliveryId: string
  readonly run: number
  readonly reason: string
}

/** A recovery of what was parked at one endpoint, and its result. */
export interface RecoverySeen {
  readonly endpoint: string
  /** When the api accepted it, in ms since 1970. */
  readonly begunAtMs: number
  /** `done`, unless it is still at it. */
  readonly state: string
  readonly found: number
  readonly sent: number
  readonly skipped: number
  readonly failed: number
  /** Those that were parked when it began. */
  readonly deliveries: readonly {
    readonly deliveryId: string
    readonly state: string
    readonly run: number
    /** The one that had ended parked. */
    readonly parkedRun: number
  }[]
}

/** After a change of a subscription was answered, no first attempt of these event types may begin to arrive. */
export interface Closure {
  readonly endpoint: string
  readonly eventTypes: readonly string[]
  /** From the answer to the change to the request that undoes it, in ms since 1970 with fractions (`clock.ts`). */
  readonly fromMs: number
  readonly toMs: number
}

/** Writes to Redis that were lost on purpose: everything that was committed from `fromMs` to `toMs`. */
export interface Lapse extends Disturbance {
  /** `rolled back`: the data came back as it was at `fromMs`. `empty`: there was no data at all; then it came back. */
  readonly kind: 'rolled back' | 'empty'
}

export interface AcceptedCall {
  readonly callId: string
  readonly agentUri: string
  /** When the answer arrived, in ms since 1970. */
  readonly atMs: number
}

/** All that was seen of a run. */
export interface Observation {
  /** The subscriptions that lasted for the whole run: every event of their types is owed to them. */
  readonly endpoints: readonly Endpoint[]
  /** Endpoints whose subscriptions were changed and deleted: only their retries are owed to them. */
  readonly guests: readonly string[]
  readonly closures: readonly Closure[]
  /** Events of our own whose publish was confirmed. */
  readonly confirmed: readonly string[]
  /** Calls that the api has accepted. */
  readonly calls: readonly AcceptedCall[]
  /** In the order of arrival. */
  readonly posts: readonly Post[]
  readonly parked: readonly Parked[]
  readonly recoveries: readonly RecoverySeen[]
  readonly disturbances: readonly Disturbance[]
  readonly lapses: readonly Lapse[]
  readonly absences: readonly Absence[]
  /** Messages that are left, by queue. */
  readonly left: Readonly<Record<string, number>>
  readonly notReady: readonly string[]
}
