// Written by make docs from docs/openapi.json and packages/contracts.
import type { CallOptions, Pages } from '../options.ts'
import type { StreamMessage, StreamOptions } from '../stream.ts'
import type { Schemas } from './schemas.ts'

/** A request line and its flags, with the type of the method that it describes. */
type Line<Method> = string & { readonly method?: Method }

/**
 * Each operation as its request line, with `{}` for an id, and its flags. `body`, `query`: takes one. `key`: takes an `Idempotency-Key`.
 * `page`: answers a page; `array`: answers an array, and the header `Next-Cursor` has the cursor of the next page. `stream`: answers
 * server-sent events. `nothing`: answers without a body.
 */
export const OPERATIONS = {
  subscriptions: {
    /** Create a subscription. Needs the role `operator`. */
    create: 'POST /api/v1/webhooks/subscriptions body key' as Line<(body: Schemas['SubscriptionInput'], options?: CallOptions) => Promise<Schemas['CreatedSubscription']>>,
    /** List subscriptions. Needs the role `viewer`. */
    list: 'GET /api/v1/webhooks/subscriptions query array' as Line<(query?: Schemas['ListSubscriptionsQuery'], options?: CallOptions) => Pages<{ items: Schemas['Subscription'][]; nextCursor: string | null }>>,
    /** Read a subscription. Needs the role `viewer`. */
    read: 'GET /api/v1/webhooks/subscriptions/{}' as Line<(id: string, options?: CallOptions) => Promise<Schemas['Subscription']>>,
    /** Change, disable or enable a subscription. Needs the role `admin`. */
    change: 'PATCH /api/v1/webhooks/subscriptions/{} body key' as Line<(id: string, body: Schemas['SubscriptionChange'], options?: CallOptions) => Promise<Schemas['Subscription']>>,
    /** Delete a subscription. Needs the role `admin`. */
    delete: 'DELETE /api/v1/webhooks/subscriptions/{} key nothing' as Line<(id: string, options?: CallOptions) => Promise<void>>,
    /** Rotate the signing secret. Needs the role `admin`. */
    rotateSecret: 'POST /api/v1/webhooks/subscriptions/{}/rotate-secret body key' as Line<(id: string, body?: Schemas['SecretRotation'], options?: CallOptions) => Promise<Schemas['RotatedSecret']>>,
    /** Send a test delivery. Needs the role `operator`. */
    test: 'POST /api/v1/webhooks/subscriptions/{}/test body key' as Line<(id: string, body?: Schemas['Trial'], options?: CallOptions) => Promise<Schemas['TestDelivery']>>,
    /** Check the endpoint. Needs the role `operator`. */
    check: 'POST /api/v1/webhooks/subscriptions/{}/check body' as Line<(id: string, body?: Schemas['Trial'], options?: CallOptions) => Promise<Schemas['ReceiverReport']>>,
    /** Receive deliveries of a pull subscription. Needs the role `operator`. */
    receive: 'POST /api/v1/webhooks/subscriptions/{}/receive body' as Line<(id: string, body?: Schemas['Receive'], options?: CallOptions) => Promise<Schemas['Received']>>,
    /** Report the outcomes of received deliveries. Needs the role `operator`. */
    report: 'POST /api/v1/webhooks/subscriptions/{}/outcomes body' as Line<(id: string, body: Schemas['ReportedOutcomes'], options?: CallOptions) => Promise<Schemas['OutcomeResults']>>,
    /** List the deliveries of a subscription. Needs the role `viewer`. */
    deliveries: 'GET /api/v1/webhooks/subscriptions/{}/deliveries query page' as Line<(id: string, query?: Schemas['ListDeliveriesQuery'], options?: CallOptions) => Pages<Schemas['DeliveryPage']>>,
    /** Send the parked deliveries of a subscription again. Needs the role `operator`. */
    recover: 'POST /api/v1/webhooks/subscriptions/{}/recover body key' as Line<(id: string, body: Schemas['RecoveryInput'], options?: CallOptions) => Promise<Schemas['Recovery']>>,
    /** Count the deliveries that a recovery would send. Needs the role `viewer`. */
    previewRecovery: 'POST /api/v1/webhooks/subscriptions/{}/recover/preview body' as Line<(id: string, body: Schemas['RecoveryInput'], options?: CallOptions) => Promise<Schemas['RecoveryCount']>>,
    /** Send earlier events to a subscription. Needs the role `operator`. */
    backfill: 'POST /api/v1/webhooks/subscriptions/{}/backfill body key' as Line<(id: string, body: Schemas['BackfillInput'], options?: CallOptions) => Promise<Schemas['Recovery']>>,
    /** Count the events that a backfill would send. Needs the role `viewer`. */
    previewBackfill: 'POST /api/v1/webhooks/subscriptions/{}/backfill/preview body' as Line<(id: string, body: Schemas['BackfillInput'], options?: CallOptions) => Promise<Schemas['RecoveryCount']>>,
    /** List the recoveries of a subscription. Needs the role `viewer`. */
    recoveries: 'GET /api/v1/webhooks/subscriptions/{}/recoveries' as Line<(id: string, options?: CallOptions) => Promise<Schemas['RecoveryList']>>,
    /** Read how all subscriptions stand. Needs the role `viewer`. */
    summary: 'GET /api/v1/webhooks/summary query page' as Line<(query?: Schemas['ReadSummaryQuery'], options?: CallOptions) => Pages<Schemas['Summary']>>,
  },
  filters: {
    /** Try a filter on past events. Needs the role `viewer`. */
    preview: 'POST /api/v1/webhooks/filters/preview body' as Line<(body: Schemas['FilterPreviewRequest'], options?: CallOptions) => Promise<Schemas['FilterPreview']>>,
  },
  deliveries: {
    /** Read a delivery and its attempts. Needs the role `viewer`. */
    read: 'GET /api/v1/webhooks/deliveries/{}' as Line<(deliveryId: string, options?: CallOptions) => Promise<Schemas['Delivery']>>,
    /** Send a delivery again. Needs the role `operator`. */
    redeliver: 'POST /api/v1/webhooks/deliveries/{}/redeliver key' as Line<(deliveryId: string, options?: CallOptions) => Promise<Schemas['Delivery']>>,
    /** List the deliveries of all subscriptions. Needs the role `viewer`. */
    list: 'GET /api/v1/webhooks/deliveries query page' as Line<(query?: Schemas['ListTenantDeliveriesQuery'], options?: CallOptions) => Pages<Schemas['DeliveryPage']>>,
    /** List parked deliveries by cause. Needs the role `viewer`. */
    parked: 'GET /api/v1/webhooks/parked' as Line<(options?: CallOptions) => Promise<Schemas['ParkedCauses']>>,
    /** Read statistics of deliveries. Needs the role `viewer`. */
    statistics: 'GET /api/v1/webhooks/statistics query' as Line<(query?: Schemas['ReadStatisticsQuery'], options?: CallOptions) => Promise<Schemas['Statistics']>>,
    /** Read the delivery policy. Needs the role `viewer`. */
    policy: 'GET /api/v1/webhooks/policy' as Line<(options?: CallOptions) => Promise<Schemas['DeliveryPolicy']>>,
  },
  events: {
    /** List event types. Needs the role `viewer`. */
    types: 'GET /api/v1/webhooks/event-types' as Line<(options?: CallOptions) => Promise<Schemas['EventTypes']>>,
    /** List events. Needs the role `viewer`. */
    list: 'GET /api/v1/webhooks/events query page' as Line<(query?: Schemas['ListEventsQuery'], options?: CallOptions) => Pages<Schemas['EventPage']>>,
    /** Explain the deliveries of an event. Needs the role `viewer`. */
    explain: 'GET /api/v1/webhooks/events/{} query' as Line<(eventId: string, query?: Schemas['ExplainEventQuery'], options?: CallOptions) => Promise<Schemas['ExplainedEvent']>>,
    /** Send an event to a subscription. Needs the role `operator`. */
    deliver: 'POST /api/v1/webhooks/events/{}/deliver body key' as Line<(eventId: string, body: Schemas['EventDeliveryRequest'], options?: CallOptions) => Promise<Schemas['EventDelivery']>>,
    /** Follow events and attempts as they happen. Needs the role `viewer`. */
    stream: 'GET /api/v1/webhooks/stream query stream' as Line<(query?: Schemas['StreamEventsQuery'], options?: StreamOptions) => AsyncIterable<StreamMessage>>,
  },
  recoveries: {
    /** List the recoveries of all subscriptions. Needs the role `viewer`. */
    list: 'GET /api/v1/webhooks/recoveries query page' as Line<(query?: Schemas['ListAllRecoveriesQuery'], options?: CallOptions) => Pages<Schemas['RecoveryPage']>>,
    /** Read a recovery. Needs the role `viewer`. */
    read: 'GET /api/v1/webhooks/recoveries/{}' as Line<(recoveryId: string, options?: CallOptions) => Promise<Schemas['Recovery']>>,
    /** Cancel a recovery. Needs the role `operator`. */
    cancel: 'POST /api/v1/webhooks/recoveries/{}/cancel key' as Line<(recoveryId: string, options?: CallOptions) => Promise<Schemas['Recovery']>>,
  },
  calls: {
    /** Start an outbound call. Needs the role `operator`. */
    dial: 'POST /api/v1/voice/calls/dial body key' as Line<(body: Schemas['DialCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>>,
    /** Answer a call. Needs the role `operator`. */
    answer: 'POST /api/v1/voice/calls/{}/answer body key' as Line<(callId: string, body: Schemas['LegCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>>,
    /** Hang up a call. Needs the role `operator`. */
    hangup: 'POST /api/v1/voice/calls/{}/hangup body key' as Line<(callId: string, body: Schemas['LegCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>>,
    /** Hold the active call. Needs the role `operator`. */
    hold: 'POST /api/v1/voice/calls/{}/hold body key' as Line<(callId: string, body: Schemas['LegCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>>,
    /** Resume a held call. Needs the role `operator`. */
    resume: 'POST /api/v1/voice/calls/{}/resume body key' as Line<(callId: string, body: Schemas['LegCommand'], options?: CallOptions) => Promise<Schemas['CommandAccepted']>>,
    /** Transfer a call. Needs the role `operator`. */
    transfer: 'POST /api/v1/voice/calls/{}/transfer body key' as Line<(callId: string, body: Schemas['TransferCommand'], options?: CallOptions) => Promise<Schemas['TransferAccepted']>>,
    /** List calls. Needs the role `viewer`. */
    list: 'GET /api/v1/voice/calls query page' as Line<(query?: Schemas['ListCallsQuery'], options?: CallOptions) => Pages<Schemas['CallPage']>>,
    /** Read a call. Needs the role `viewer`. */
    read: 'GET /api/v1/voice/calls/{}' as Line<(callId: string, options?: CallOptions) => Promise<Schemas['Call']>>,
  },
  agents: {
    /** List agents. Needs the role `viewer`. */
    list: 'GET /api/v1/voice/agents query page' as Line<(query?: Schemas['ListAgentsQuery'], options?: CallOptions) => Pages<Schemas['AgentPage']>>,
    /** Read an agent's presence and status. Needs the role `viewer`. */
    state: 'GET /api/v1/voice/agents/{}/state' as Line<(agentUri: string, options?: CallOptions) => Promise<Schemas['AgentState']>>,
    /** Read the calls of an agent's device. Needs the role `viewer`. */
    callState: 'GET /api/v1/voice/agents/{}/call-state' as Line<(agentUri: string, options?: CallOptions) => Promise<Schemas['CallState']>>,
    /** Set an agent's status. Needs the role `operator`. */
    setPresence: 'POST /api/v1/voice/agents/{}/presence body key' as Line<(agentUri: string, body: Schemas['PresenceSetting'], options?: CallOptions) => Promise<Schemas['AgentState']>>,
  },
  audit: {
    /** List audit log entries. Needs the role `viewer`. */
    list: 'GET /api/v1/audit query page' as Line<(query?: Schemas['ListAuditEntriesQuery'], options?: CallOptions) => Pages<Schemas['AuditPage']>>,
  },
  me: {
    /** Read who you are. Needs the role `viewer`. */
    read: 'GET /api/v1/me' as Line<(options?: CallOptions) => Promise<Schemas['Me']>>,
    /** Read how people sign in. Needs no token. */
    signIn: 'GET /api/v1/sign-in query' as Line<(query?: Schemas['ReadSignInQuery'], options?: CallOptions) => Promise<Schemas['SignInOffer']>>,
  },
  simulator: {
    /** Ring an agent from outside. Needs the role `operator`. */
    call: 'POST /simulator/v1/calls body' as Line<(body: Schemas['SimulatedCall'], options?: CallOptions) => Promise<Schemas['SimulatedCallRinging']>>,
    /** Act as the outside party. Needs the role `operator`. */
    remote: 'POST /simulator/v1/calls/{}/remote body nothing' as Line<(callId: string, body: Schemas['RemoteAction'], options?: CallOptions) => Promise<void>>,
    /** Take an agent's device offline or online. Needs the role `operator`. */
    device: 'POST /simulator/v1/agents/{}/device body nothing' as Line<(agentUri: string, body: Schemas['SimulatedDevice'], options?: CallOptions) => Promise<void>>,
  },
  documents: {
    /** Read the OpenAPI document. Needs no token. */
    openapi: 'GET /api/v1/openapi.json' as Line<(options?: CallOptions) => Promise<Record<string, unknown>>>,
    /** Read the AsyncAPI document of the events. Needs no token. */
    asyncapi: 'GET /api/v1/asyncapi.json' as Line<(options?: CallOptions) => Promise<Record<string, unknown>>>,
  },
}

type Table = typeof OPERATIONS

/** The operations of the API, by resource. */
export type Operations = {
  readonly [Group in keyof Table]: {
    readonly [Name in keyof Table[Group]]: Table[Group][Name] extends Line<infer Method> ? Method : never
  }
}
