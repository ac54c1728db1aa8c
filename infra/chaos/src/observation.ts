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
  readonly flaws: readonly string[]
  /** When it arrived and when its event occurred, in ms since 1970. */
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

/** The sending again of what was parked at one endpoint, and what became of it. */
export interface RecoverySeen {
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

/** All that was seen of a run. */
export interface Observation {
  readonly endpoints: readonly Endpoint[]
  /** Events of our own whose publish was confirmed. */
  readonly confirmed: readonly string[]
  /** Calls that the api has accepted. */
  readonly calls: readonly { readonly callId: string; readonly agentUri: string }[]
  /** In the order of arrival. */
  readonly posts: readonly Post[]
  readonly parked: readonly Parked[]
  readonly recovery: RecoverySeen
  readonly disturbances: readonly Disturbance[]
  readonly absences: readonly Absence[]
  /** Messages that are left, by queue. */
  readonly left: Readonly<Record<string, number>>
  readonly notReady: readonly string[]
}
