// Written by make docs from docs/openapi.json and packages/contracts.
import type { CallOptions, Pages } from '../options.ts'
import type { StreamMessage, StreamOptions } from '../stream.ts'
import type { Schemas } from './schemas.ts'

/**
 * Each operation as its request line, with `{}` for an id, and its flags. `body`, `query`: takes one. `key`: takes an `Idempotency-Key`.
 * `pages`: answers a page; `linked`: answers an array, and the header `Link` leads to the next page. `stream`: answers
 * server-sent events.
 */
export const OPERATIONS = {
  subscriptions: {
    create: 'POST /api/v1/webhooks/subscriptions body key',
    list: 'GET /api/v1/webhooks/subscriptions query linked',
    read: 'GET /api/v1/webhooks/subscriptions/{}',
    change: 'PATCH /api/v1/webhooks/subscriptions/{} body key',
    delete: 'DELETE /api/v1/webhooks/subscriptions/{} key',
    rotateSecret: 'POST /api/v1/webhooks/subscriptions/{}/rotate-secret body key',
    test: 'POST /api/v1/webhooks/subscriptions/{}/test body key',
    check: 'POST /api/v1/webhooks/subscriptions/{}/check body',
    receive: 'POST /api/v1/webhooks/subscriptions/{}/receive body',
    report: 'POST /api/v1/webhooks/subscriptions/{}/outcomes body',
    deliveries: 'GET /api/v1/webhooks/subscriptions/{}/deliveries query pages',
    recover: 'POST /api/v1/webhooks/subscriptions/{}/recover body key',
    backfill: 'POST /api/v1/webhooks/subscriptions/{}/backfill body key',
    recoveries: 'GET /api/v1/webhooks/subscriptions/{}/recoveries',
    summary: 'GET /api/v1/webhooks/summary query pages',
  },
  filters: {
    preview: 'POST /api/v1/webhooks/filters/preview body',
  },
  deliveries: {
    read: 'GET /api/v1/webhooks/deliveries/{}',
    redeliver: 'POST /api/v1/webhooks/deliveries/{}/redeliver key',
    list: 'GET /api/v1/webhooks/deliveries query pages',
    parked: 'GET /api/v1/webhooks/parked',
    statistics: 'GET /api/v1/webhooks/statistics query',
    policy: 'GET /api/v1/webhooks/policy',
  },
  events: {
    types: 'GET /api/v1/webhooks/event-types',
    list: 'GET /api/v1/webhooks/events query pages',
    explain: 'GET /api/v1/webhooks/events/{} query',
    deliver: 'POST /api/v1/webhooks/events/{}/deliver body key',
    stream: 'GET /api/v1/webhooks/stream query stream',
  },
  recoveries: {
    list: 'GET /api/v1/webhooks/recoveries query pages',
    read: 'GET /api/v1/webhooks/recoveries/{}',
    cancel: 'POST /api/v1/webhooks/recoveries/{}/cancel key',
  },
  calls: {
    dial: 'POST /api/v1/voice/calls/dial body key',
    answer: 'POST /api/v1/voice/calls/{}/answer body key',
    hangup: 'POST /api/v1/voice/calls/{}/hangup body key',
    hold: 'POST /api/v1/voice/calls/{}/hold body key',
    resume: 'POST /api/v1/voice/calls/{}/resume body key',
    transfer: 'POST /api/v1/voice/calls/{}/transfer body key',
    list: 'GET /api/v1/voice/calls query pages',
    read: 'GET /api/v1/voice/calls/{}',
  },
  agents: {
    list: 'GET /api/v1/voice/agents query pages',
    state: 'GET /api/v1/voice/agents/{}/state',
    callState: 'GET /api/v1/voice/agents/{}/call-state',
    setPresence: 'POST /api/v1/voice/agents/{}/presence body key',
  },
  audit: {
    list: 'GET /api/v1/audit query pages',
  },
  me: {
    read: 'GET /api/v1/me',
    signIn: 'GET /api/v1/sign-in query',
  },
  simulator: {
    call: 'POST /simulator/v1/calls body',
    remote: 'POST /simulator/v1/calls/{}/remote body',
    device: 'POST /simulator/v1/agents/{}/device body',
  },
  documents: {
    openapi: 'GET /api/v1/openapi.json',
    asyncapi: 'GET /api/v1/asyncapi.json',
  },
} as const

/** The operations of the API, by resource. */
export interface Operations {
  readonly subscriptions: {
    /** Create a subscription. Needs the role `operator`. */
    readonly create: (body: Schemas['NewSubscription'], options?: CallOptions) => Promise<Schemas['CreatedSubscription']>
    /** List subscriptions. Needs the role `viewer`. */
    readonly list: (query?: Schemas['ListSubscriptionsQuery'], options?: CallOptions) => Pages<{ items: Schemas['Subscription'][]; nextCursor: string | null }>
    /** Read a subscription. Needs the role `viewer`. */
    readonly read: (id: string, options?: CallOptions) => Promise<Schemas['Subscription']>
    /** Change, disable or enable a subscription. Needs the role `admin`. */
    readonly change: (id: string, body: Schemas['SubscriptionChange'], options?: CallOptions) => Promise<Schemas['Subscription']>
    /** Delete a subscription. Needs the role `admin`. */
    readonly delete: (id: string, options?: CallOptions) => Promise<void>
    /** Rotate the signing secret. Needs the role `admin`. */
    readonly rotateSecret: (id: string, body?: Schemas['SecretRotation'], options?: CallOptions) => Promise<Schemas['RotatedSecret']>
    /** Send a test delivery. Needs the role `operator`. */
    readonly test: (id: string, body?: Schemas['Trial'], options?: CallOptions) => Promise<Schemas['TestDelivery']>
    /** Check the endpoint. Needs the role `operator`. */
    readonly check: (id: string, body?: Schemas['Trial'], options?: CallOptions) => Promise<Schemas['ReceiverReport']>
    /** Receive deliveries of a pull subscription. Needs the role `operator`. */
    readonly receive: (id: string, body?: Schemas['Receive'], options?: CallOptions) => Promise<Schemas['Received']>
    /** Report the outcomes of received deliveries. Needs the role `operator`. */
    readonly report: (id: string, body: Schemas['ReportedOutcomes'], options?: CallOptions) => Promise<Schemas['OutcomeResults']>
    /** List the deliveries of a subscription. Needs the role `viewer`. */
    readonly deliveries: (id: string, query?: Schemas['ListDeliveriesQuery'], options?: CallOptions) => Pages<Schemas['DeliveryPage']>
    /** Send the parked deliveries of a subscription again. Needs the role `operator`. */
    readonly recover: { (id: string, body: Schemas['NewRecovery'] & { dryRun: true }, options?: CallOptions): Promise<Schemas['RecoveryCount']>; (id: string, body: Schemas['NewRecovery'] & { dryRun?: false }, options?: CallOptions): Promise<Schemas['Recovery']> }
    /** Send earlier events to a subscription. Needs the role `operator`. */
    readonly backfill: { (id: string, body: Schemas['NewBackfill'] & { dryRun: true }, options?: CallOptions): Promise<Schemas['RecoveryCount']>; (id: string, body: Schemas['NewBackfill'] & { dryRun?: false }, options?: CallOptions): Promise<Schemas['Recovery']> }
    /** List the recoveries of a subscription. Needs the role `viewer`. */
    readonly recoveries: (id: string, options?: CallOptions) => Promise<Schemas['RecoveryList']>
    /** Read how all subscriptions stand. Needs the role `viewer`. */
    readonly summary: (query?: Schemas['ReadSummaryQuery'], options?: CallOptions) => Pages<Schemas['Summary']>
  }
  readonly filters: {
    /** Try a filter on past events. Needs the role `viewer`. */
    readonly preview: (body: Schemas['FilterPreviewRequest'], options?: CallOptions) => Promise<Schemas['FilterPreview']>
  }
  readonly deliveries: {
    /** Read a delivery and its attempts. Needs the role `viewer`. */
    readonly read: (deliveryId: string, options?: CallOptions) => Promise<Schemas['Delivery']>
    /** Send a delivery again. Needs the role `operator`. */
    readonly redeliver: (deliveryId: string, options?: CallOptions) => Promise<Schemas['Delivery']>
    /** List the deliveries of all subscriptions. Needs the role `viewer`. */
    readonly list: (query?: Schemas['ListTenantDeliveriesQuery'], options?: CallOptions) => Pages<Schemas['DeliveryPage']>
    /** List parked deliveries by cause. Needs the role `viewer`. */
    readonly parked: (options?: CallOptions) => Promise<Schemas['ParkedCauses']>
    /** Read statistics of deliveries. Needs the role `viewer`. */
    readonly statistics: (query?: Schemas['ReadStatisticsQuery'], options?: CallOptions) => Promise<Schemas['Statistics']>
    /** Read the delivery policy. Needs the role `viewer`. */
    readonly policy: (options?: CallOptions) => Promise<Schemas['DeliveryPolicy']>
  }
  readonly events: {
    /** List event types. Needs the role `viewer`. */
    readonly types: (options?: CallOptions) => Promise<Schemas['EventTypes']>
    /** List events. Needs the role `viewer`. */
    readonly list: (query?: Schemas['ListEventsQuery'], options?: CallOptions) => Pages<Schemas['EventPage']>
    /** Explain the deliveries of an event. Needs the role `viewer`. */
    readonly explain: (eventId: string, query?: Schemas['ExplainEventQuery'], options?: CallOptions) => Promise<Schemas['ExplainedEvent']>
    /** Send an event to a subscription. Needs the role `operator`. */
    readonly deliver: (eventId: string, body: Schemas['EventDeliveryRequest'], options?: CallOptions) => Promise<Schemas['EventDelivery']>
    /** Follow events and attempts as they happen. Needs the role `viewer`. */
    readonly stream: (query?: Schemas['StreamEventsQuery'], options?: StreamOptions) => AsyncIterable<StreamMessage>
  }
  readonly recoveries: {
    /** List the recoveries of all subscriptions. Needs the role `viewer`. */
    readonly list: (query?: Schemas['ListAllRecoveriesQuery'], options?: CallOptions) => Pages<Schemas['RecoveryPage']>
    /** Read a recovery. Needs the role `viewer`. */
    readonly read: (recoveryId: string, options?: CallOptions) => Promise<Schemas['Recovery']>
    /** Cancel a recovery. Needs the role `operator`. */
    readonly cancel: (recoveryId: string, options?: CallOptions) => Promise<Schemas['Recovery']>
  }
  readonly calls: {
    /** Start an outbound call. Needs the role `operator`. */
    readonly dial: (body: Schemas['DialCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>
    /** Answer a call. Needs the role `operator`. */
    readonly answer: (callId: string, body: Schemas['LegCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>
    /** Hang up a call. Needs the role `operator`. */
    readonly hangup: (callId: string, body: Schemas['LegCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>
    /** Hold the active call. Needs the role `operator`. */
    readonly hold: (callId: string, body: Schemas['LegCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>
    /** Resume a held call. Needs the role `operator`. */
    readonly resume: (callId: string, body: Schemas['LegCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>
    /** Transfer a call. Needs the role `operator`. */
    readonly transfer: (callId: string, body: Schemas['TransferCommand'], options?: CallOptions) => Promise<Schemas['TransferAccepted']>
    /** List calls. Needs the role `viewer`. */
    readonly list: (query?: Schemas['ListCallsQuery'], options?: CallOptions) => Pages<Schemas['CallPage']>
    /** Read a call. Needs the role `viewer`. */
    readonly read: (callId: string, options?: CallOptions) => Promise<Schemas['Call']>
  }
  readonly agents: {
    /** List agents. Needs the role `viewer`. */
    readonly list: (query?: Schemas['ListAgentsQuery'], options?: CallOptions) => Pages<Schemas['AgentPage']>
    /** Read an agent's presence and status. Needs the role `viewer`. */
    readonly state: (agentUri: string, options?: CallOptions) => Promise<Schemas['AgentState']>
    /** Read the calls of an agent's device. Needs the role `viewer`. */
    readonly callState: (agentUri: string, options?: CallOptions) => Promise<Schemas['CallState']>
    /** Set an agent's status. Needs the role `operator`. */
    readonly setPresence: (agentUri: string, body: Schemas['PresenceSetting'], options?: CallOptions) => Promise<Schemas['AgentState']>
  }
  readonly audit: {
    /** List audit log entries. Needs the role `viewer`. */
    readonly list: (query?: Schemas['ListAuditEntriesQuery'], options?: CallOptions) => Pages<Schemas['AuditPage']>
  }
  readonly me: {
    /** Read who you are. Needs the role `viewer`. */
    readonly read: (options?: CallOptions) => Promise<Schemas['Me']>
    /** Read how people sign in. Needs no token. */
    readonly signIn: (query?: Schemas['ReadSignInQuery'], options?: CallOptions) => Promise<Schemas['SignInOffer']>
  }
  readonly simulator: {
    /** Ring an agent from outside. Needs the role `operator`. */
    readonly call: (body: Schemas['SimulatedCall'], options?: CallOptions) => Promise<Schemas['SimulatedCallRinging']>
    /** Act as the outside party. Needs the role `operator`. */
    readonly remote: (callId: string, body: Schemas['RemoteAction'], options?: CallOptions) => Promise<void>
    /** Take an agent's device offline or online. Needs the role `operator`. */
    readonly device: (agentUri: string, body: Schemas['SimulatedDevice'], options?: CallOptions) => Promise<void>
  }
  readonly documents: {
    /** Read the OpenAPI document. Needs no token. */
    readonly openapi: (options?: CallOptions) => Promise<Record<string, unknown>>
    /** Read the AsyncAPI document of the events. Needs no token. */
    readonly asyncapi: (options?: CallOptions) => Promise<Record<string, unknown>>
  }
}
