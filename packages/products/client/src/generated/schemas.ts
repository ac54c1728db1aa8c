// Written by make docs from docs/openapi.json and packages/contracts.
import type { FilterCondition } from './filter.ts'

export interface Schemas {
  AnyDelivery: {
    /** The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt. */
    deliveryId: string;
    /** When the event occurred, in UTC. Unchanged on a retry. */
    occurredAt: string;
    /** The tenant of the event. */
    tenant: string | null;
  };
  NextPage: {
    /** The `cursor` of the next page; null: this is the last page. Send it with the same other parameters. A page can have fewer items than `limit` and still have a next page. It is empty only at the end, and after a search of ten seconds without a match. */
    nextCursor: string | null;
  };
  PageQuery: {
    /** The maximum number of items per page. */
    limit?: number;
    /** The `nextCursor` of the previous page. Send the same other parameters as for that page. */
    cursor?: string;
  };
  SubscriptionSettings: {
    /** null for a pull subscription. The endpoint that receives the deliveries: an absolute http or https url (in production https only, unless configured otherwise) without credentials, fragment, whitespace, control characters or backslashes. `localhost` and private, loopback, link-local, multicast or reserved addresses are rejected in every spelling, unless the installation allows their network. Host names are not resolved here; each attempt checks the resolved address by the same rule and fails as `blocked` if it is not allowed. The url is stored, shown and requested as written: one that would be requested otherwise (`/a/../b`, a host name that is not ASCII) is rejected with the form to use. */
    url?: string | null;
    /** A label of your choice. */
    description?: string | null;
    /** Your own name for the subscription, unique among those of the tenant. A script that creates it twice gets 409 `external-id-taken` instead of a second subscription, and finds the first with `GET /webhooks/subscriptions?externalId=`. */
    externalId?: string | null;
    /** Which events of a type to deliver, by fields of their `data`; null: all. Each named field has to meet one of its conditions. A type without an entry passes whole. At most 16 fields and 100 values and conditions per type, and 4096 bytes as JSON. A field without a value (absent or null) only matches null and `exists: false`. An invalid filter answers 400 `invalid-filter`. Test deliveries, and events that you ask for one by one, ignore the filter. */
    filter?: Record<string, Record<string, readonly FilterCondition[]>> | null;
    /** Deliveries of events that are older are not sent: before each attempt, the age counts from `occurredAt` of the event. Such a delivery ends as `expired` and is not parked. The end of a call (state 7), notices, tests, and deliveries that you send again or ask for never expire. Use it once all services are new. */
    expireAfterSeconds?: number | null;
    /** While true, nothing is sent: deliveries are held, in their slot and with their body, for up to the retention time of parked deliveries. Set it to false to resume, which also ends `pausedUntil`; what was held is then sent, the longest held first. Unlike with `enabled: false`, no event is lost. */
    paused?: boolean | null;
    /** Until this time the subscription is paused, like with `paused`. It then resumes automatically. A time in the past pauses nothing; the answer warns of a new one. null: not paused for a time. */
    pausedUntil?: string | null;
    /** The subscription is deleted when no client has asked for its deliveries for so long, and none has a lease. Time in which the API is unavailable does not count. Only for pull subscriptions. */
    deleteAfterUnusedSeconds?: number | null;
    /** While true, deliveries that the endpoint rejected (`parkedReason` `rejected`) are sent again after its next 2xx, by a recovery that starts automatically: each delivery at most once, at most one recovery every five minutes, and it ends as soon as a delivery is parked again. What was rejected before the setting stays parked. Not for pull subscriptions. */
    recoverRejected?: boolean | null;
    /** How many attempts may be in progress at a time, over all workers. Deliveries beyond it are held, and sent as attempts end. Not for pull subscriptions. */
    maxInFlight?: number | null;
    /** How many attempts may begin in any second, over all workers. Deliveries beyond it are held, and sent as time passes. Not for pull subscriptions. */
    maxPerSecond?: number | null;
    /** Headers of your own for every POST, such as an API key. Names are case-insensitive and shown in lower case. Values are encrypted and never shown: reading shows `***` in place of each value. `PATCH` merges by name: a text sets a value, `***` keeps it, null removes it; `headers: null` removes all. At most 20, names up to 64 characters, values up to 1024 of visible ASCII, 4096 together. Refused are hop-by-hop headers, `Host`, `Expect`, `Accept`, `Accept-Encoding`, `User-Agent`, `Content-*`, `X-SVC-*`, `webhook-*`, `traceparent` and `tracestate`. If `url` moves to another origin, name each header again, so that none reaches another host by mistake. Use it once all services are new. */
    headers?: Record<string, string | null> | null;
    /** Set by the service; ignored in a request. */
    readonly id?: unknown;
    /** Set by the service; ignored in a request. */
    readonly createdAt?: unknown;
    /** Set by the service; ignored in a request. */
    readonly warnings?: unknown;
    /** Set by the service; ignored in a request. */
    readonly signing?: unknown;
    /** Set by the service; ignored in a request. */
    readonly health?: unknown;
    /** Set by the service; ignored in a request. */
    readonly parked?: unknown;
    /** Set by the service; ignored in a request. */
    readonly held?: unknown;
    /** Set by the service; ignored in a request. */
    readonly receivers?: unknown;
  };
  /** A page of agents. */
  AgentPage: Schemas["NextPage"] & {
    /** The items of this page, by URI. */
    items: Schemas["AgentWithCalls"][];
  };
  /** An agent's current state, as the latest `agent.status` event reported it. */
  AgentState: {
    /** The agent. */
    agentUri: string;
    /** The effective status: on the phone or after-call work while either lasts, otherwise the temporary status, otherwise the standing status. 0 Unknown, 1 Offline, 2 Available, 10 Busy, 14 Be right back, 34 Away / Off work, 50 On the phone, 66 Lunch, 82 Meeting, 98 Out of office, 114 Do not disturb, 130 Conference, 144 Working, 146 After call work, 160 Ill, 161 Gone for the day, 162 Business trip, 176 Holiday, 177 Other. */
    statusCode: number;
    /** Name of the status code. */
    statusName: string;
    /** The latest status that was set without `until`. Every other status reverts to it. 0 Unknown, 1 Offline, 2 Available, 10 Busy, 14 Be right back, 34 Away / Off work, 50 On the phone, 66 Lunch, 82 Meeting, 98 Out of office, 114 Do not disturb, 130 Conference, 144 Working, 146 After call work, 160 Ill, 161 Gone for the day, 162 Business trip, 176 Holiday, 177 Other. */
    standingStatusCode: number;
    /** A status that was set during a call and takes effect after it; null: none. */
    pendingStatusCode: number | null;
    /** State of the agent's device. 0 unknown, 1 idle, 2 inUse, 3 busy, 4 invalid, 5 unavailable, 6 ringing, 7 ringInUse, 8 onHold. */
    deviceStatus: number;
    /** Name of the device status. */
    deviceStatusName: "unknown" | "idle" | "inUse" | "busy" | "invalid" | "unavailable" | "ringing" | "ringInUse" | "onHold";
    /** true unless the standing status is Offline. A temporary Offline does not log the agent off. */
    loggedOn: boolean;
    /** When the effective status ends; null: it has no end. */
    until: string | null;
    /** The free text that was set with the status. */
    message: string | null;
    /** The location that was set with the status. */
    location: string | null;
    /** When the effective status began; null: it has not changed since the agent was provisioned. */
    since: string | null;
    /** `sequence` of the agent's latest `agent.status` event, which reported this state; 0: no event yet. */
    sequence: number;
    /** `occurredAt` of that event; null: no event yet. */
    occurredAt: string | null;
  };
  /** A full snapshot of an agent's state, never a delta. */
  AgentStatus: {
    /** The agent. */
    agentUri: string;
    /** The effective status: on the phone or after-call work while it lasts, otherwise the temporary status, otherwise the standing status. 0 Unknown, 1 Offline, 2 Available, 10 Busy, 14 Be right back, 34 Away / Off work, 50 On the phone, 66 Lunch, 82 Meeting, 98 Out of office, 114 Do not disturb, 130 Conference, 144 Working, 146 After call work, 160 Ill, 161 Gone for the day, 162 Business trip, 176 Holiday, 177 Other. */
    statusCode: number;
    /** The effective status before this event. 0 Unknown, 1 Offline, 2 Available, 10 Busy, 14 Be right back, 34 Away / Off work, 50 On the phone, 66 Lunch, 82 Meeting, 98 Out of office, 114 Do not disturb, 130 Conference, 144 Working, 146 After call work, 160 Ill, 161 Gone for the day, 162 Business trip, 176 Holiday, 177 Other. */
    previousStatusCode: number;
    /** The status last set without `until`. Temporary and automatic statuses revert to it. 0 Unknown, 1 Offline, 2 Available, 10 Busy, 14 Be right back, 34 Away / Off work, 50 On the phone, 66 Lunch, 82 Meeting, 98 Out of office, 114 Do not disturb, 130 Conference, 144 Working, 146 After call work, 160 Ill, 161 Gone for the day, 162 Business trip, 176 Holiday, 177 Other. */
    standingStatusCode: number;
    /** The status set during a call, applied after the call; null if none. */
    pendingStatusCode: number | null;
    /** State of the agent's device. 0 unknown, 1 idle, 2 inUse, 3 busy, 4 invalid, 5 unavailable, 6 ringing, 7 ringInUse, 8 onHold. */
    deviceStatus: number;
    /** State of the device before this event. 0 unknown, 1 idle, 2 inUse, 3 busy, 4 invalid, 5 unavailable, 6 ringing, 7 ringInUse, 8 onHold. */
    previousDeviceStatus: number;
    /** True if the agent is provisioned and the standing status is not Offline. A temporary Offline does not log the agent off. */
    loggedOn: boolean;
    /** When the effective status expires; null if it does not. */
    until: string | null;
    /** Free text set with the status. */
    message: string | null;
    /** Location set with the status. */
    location: string | null;
    /** Why the state changed. 1 setByApi, 2 callStarted, 3 afterCallWorkStarted, 4 ended, 5 untilExpired, 6 device, 7 logonOrLogoff, 8 platform. */
    reason: number;
    /** Counts the events of this agent from 1, without gaps. The later `(occurredAt, sequence)` is the newer state: `occurredAt` never goes back while `sequence` goes up, and after a restore or failover of Redis a number can repeat. */
    sequence: number;
    /** Same as `occurredAt` of the envelope. */
    occurredAt: string;
  };
  /** An agent's state changed. */
  AgentStatusDelivery: Schemas["AnyDelivery"] & {
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "agent.status";
    data: Schemas["AgentStatus"];
  };
  /** An agent's current state and live calls. */
  AgentWithCalls: Schemas["AgentState"] & {
    /** The agent's live call legs. Empty when the device is idle. */
    calls: Schemas["CallLeg"][];
  };
  /** One POST to the endpoint. */
  Attempt: {
    /** The run of the schedule. Sending the delivery again starts the next run. */
    run: number;
    /** The position in the schedule: 0 is the first attempt, k follows the k-th wait. */
    slot: number;
    /** The number of the attempt, over all runs; sent as `X-SVC-Attempt`. */
    attempt: number;
    /** When the POST began, in UTC. */
    at: string;
    /** The duration in milliseconds. */
    durationMs: number;
    /** `delivered`: answered with a 2xx. `answered`: answered with any other status. Without an answer: `timeout` (no answer before the timeout), `dns` (the host name does not resolve), `refused` (the connection was refused), `tls` (the TLS handshake failed or the certificate is invalid), `reset` (the connection was closed before an answer), `network` (the address cannot be reached), `malformed` (the answer was not valid HTTP), `blocked` (the address is private or reserved, and the installation does not allow it), `unusable-url` (the url cannot be requested), `lapsed` (the client that received the delivery reported no outcome before its lease ended), `proxy` (the proxy of the installation made no connection; the endpoint is not at fault). */
    outcome: "delivered" | "answered" | "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed" | "blocked" | "unusable-url" | "lapsed" | "proxy";
    /** The HTTP status; null if there was no answer. */
    status: number | null;
    /** The beginning of the body of an answer other than 2xx, as one line of at most 256 bytes. Likely secrets and mail or SIP addresses (`…@…`) are removed; phone numbers and IP addresses are not. Absent if there was no body, it was not text, or it did not arrive in time. */
    answer?: string;
    /** More about the attempt, at most 256 characters: the addresses that were tried and how each failed, the TLS alert of the endpoint, where a redirect leads, or that the request was repeated on a new connection. For people; the wording may change. Absent if there is nothing to add. */
    detail?: string;
  };
  /** One recorded action: who did what, to what, and from where. It names the changed fields, never their values. */
  AuditEntry: {
    /** The id of the entry. */
    id: string;
    /** When the entry was written, in UTC. */
    at: string;
    /** The action. Later versions may add actions that are not listed for the `action` parameter. */
    action: string;
    /** The client that the token names in `azp`, `client_id`, `appid` or `cid`, or else its `sub`; `trusted-network` for a request admitted by its address. `switchhook` without an issuer: the service itself, which deleted an unused pull subscription. */
    clientId: string;
    /** The token's `sub` if it differs from the client. */
    subject: string | null;
    /** The issuer of the token; null if there was no token. */
    issuer: string | null;
    /** The ids of the affected objects, by name. */
    on: Record<string, string>;
    /** The names of the fields that the request set, never their values. */
    fields: string[];
    /** The client's IP address: the peer of the connection, or the address that a trusted proxy reports. */
    address: string | null;
    /** The first 256 characters of the `User-Agent` header. */
    userAgent: string | null;
    /** The HTTP status of the answer. */
    status: number;
    /** The `X-Request-Id` of the answer. */
    requestId: string;
    /** The trace id of the request. */
    traceId: string | null;
  };
  /** A page of the audit log. */
  AuditPage: Schemas["NextPage"] & {
    /** The items of this page, newest first. */
    items: Schemas["AuditEntry"][];
  };
  /** The events to send. Unknown fields are rejected, because a misspelt `to` would send everything. */
  BackfillInput: {
    /** Only events journaled at this time or later. `listedAt` of an event is at most a moment earlier. */
    from: string;
    /** Only events journaled before this time. Omitted or null: until now. */
    to?: string | null;
    /** Only events of these types. Omitted or null: the event types of the subscription. */
    eventTypes?: ("call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit")[] | null;
    /** The maximum rate in deliveries per second. The limit of the installation always applies as well. */
    maxPerSecond?: number | null;
  };
  /** A call with the legs of all its agents. */
  Call: {
    /** Id of the call, from the answer of `dial` or from a `call.status` event. */
    callId: string;
    /** One leg per agent, ended ones included. Empty until the platform has reported a dialled call. */
    legs: Schemas["CallLeg"][];
  };
  /** One agent's part of a call, exactly as its latest `call.status` event reported it, and the commands that are possible. */
  CallLeg: Schemas["CallStatus"] & {
    /** The commands that are possible in this state; empty for an ended leg. While a transfer is in progress, `transfer` is possible to the same target only. */
    allowedCommands: ("dial" | "answer" | "hangup" | "hold" | "resume" | "transfer")[];
  };
  /** A page of call legs. */
  CallPage: Schemas["NextPage"] & {
    /** The items of this page, live ones first. */
    items: Schemas["CallLeg"][];
  };
  /** The calls of an agent's device. To recover from missed events, apply each snapshot whose `(occurredAt, sequence)` is later than yours. */
  CallState: {
    /** The agent. */
    agentUri: string;
    /** The platform's name of the agent's device. */
    device: string | null;
    /** State of the agent's device. 0 unknown, 1 idle, 2 inUse, 3 busy, 4 invalid, 5 unavailable, 6 ringing, 7 ringInUse, 8 onHold. */
    deviceStatus: number;
    /** When the read began. A call that began later can be missing. */
    asOf: string;
    /** Every live call leg, exactly as its latest `call.status` event reported it. Empty when the device is idle. */
    calls: Schemas["CallStatus"][];
  };
  /** A full snapshot of one agent's leg of a call, never a delta. */
  CallStatus: {
    /** The call. */
    callId: string;
    /** The agent whose leg this is. A call between two agents has two streams of events. */
    agentUri: string;
    /** State of this agent's leg. 7 is final. 0 unknown, 1 initiated, 2 alerting, 3 connected, 4 held, 5 queued, 6 failed, 7 ended, 8 proceeding. */
    state: number;
    /** State before this event. 0 unknown, 1 initiated, 2 alerting, 3 connected, 4 held, 5 queued, 6 failed, 7 ended, 8 proceeding. */
    previousState: number;
    /** Counts the events of this call and agent from 1, without gaps. The later `(occurredAt, sequence)` is the newer state: `occurredAt` never goes back while `sequence` goes up, and after a restore or failover of Redis a number can repeat. */
    sequence: number;
    /** Same as `occurredAt` of the envelope. */
    occurredAt: string;
    /** From this agent's point of view. 0 unknown, 1 inbound, 2 outbound. */
    direction: number;
    /** True for a call between two agents of the contact center. */
    internal: boolean;
    /** This agent's part in the call. 0 unknown, 1 originator, 2 destination, 3 consultant, 4 transferTarget. */
    role: number;
    /** The other party. */
    remoteParty: {
      /** SIP or tel URI; null if the number is withheld or unknown. */
      uri: string | null;
      /** Phone number; null if the party has none or withholds it. */
      number: string | null;
      /** Display name; null if the platform does not know it. */
      name: string | null;
      /** Kind of party. 0 unknown, 1 agent, 2 extension, 3 external. */
      type: number;
    };
    /** Caller number that the called party sees; `anonymous`: it is withheld; null: the platform chose or did not say. */
    cli: string | null;
    /** The agent's device, in the platform's notation. */
    device: string | null;
    /** The `correlationId` given to the `dial` or `transfer` that caused this call or event. */
    correlationId: string | null;
    /** The command that caused this event; null if none did. */
    commandId: string | null;
    /** True while this agent holds the call. */
    held: boolean;
    /** True while the other party holds the call. */
    remoteHeld: boolean;
    /** When this leg started. */
    startedAt: string;
    /** When this leg was first connected. */
    answeredAt: string | null;
    /** When this leg ended. */
    endedAt: string | null;
    /** Whole seconds from answer to end; 0 if never answered, null until the end. */
    durationSeconds: number | null;
    /** Why the leg ended. 0 none, 1 normal, 2 busy, 3 badAddress, 4 noAnswer, 5 cancelled, 6 rejected, 7 failed, 8 blocked, 9 transferred, 10 deviceUnavailable, 11 answeredElsewhere, 12 platformLost. */
    endReason: number;
    /** Who ended the leg. 0 unknown, 1 agent, 2 remote, 3 system. */
    endedBy: number;
    /** Q.850 cause; null if the platform reported none. */
    cause: number | null;
    /** SIP status code; null if the platform reported none. */
    sipCode: number | null;
    /** The transfer that this leg takes part in. It remains after the transfer has ended. */
    transfer: {
      /** True for a blind transfer, false for an attended one. */
      blind: boolean;
      /** Agent URI, extension or external number, as requested. */
      target: string;
      /** This leg's part in the transfer. 1 transferring, 2 transferred, 3 target. */
      role: number;
      /** Progress of the transfer. 1 started, 2 ringing, 3 completed, 4 failed, 5 cancelled. */
      status: number;
      /** Why the target was not reached. 0 none, 1 normal, 2 busy, 3 badAddress, 4 noAnswer, 5 cancelled, 6 rejected, 7 failed, 8 blocked, 9 transferred, 10 deviceUnavailable, 11 answeredElsewhere, 12 platformLost. */
      failReason: number;
      /** The consultation call of an attended transfer. */
      otherCallId: string | null;
    } | null;
    /** On the original call: `callId` and `target`. On the consultation call: `forCallId`. */
    consultation: {
      /** The consultation call. */
      callId?: string;
      /** The party consulted. */
      target?: string;
      /** The original call. */
      forCallId?: string;
    } | null;
    /** The result of a command that changed no state: it failed after its 202, or another one came first. */
    commandResult: {
      /** The command. */
      commandId: string;
      /** The command. 0 unknown, 1 dial, 2 answer, 3 hangup, 4 hold, 5 resume, 6 transfer. */
      command: number;
      /** Result of the command. 1 ok, 2 failed. */
      result: number;
      /** Why the command failed; 0 if it did not. 0 none, 1 normal, 2 busy, 3 badAddress, 4 noAnswer, 5 cancelled, 6 rejected, 7 failed, 8 blocked, 9 transferred, 10 deviceUnavailable, 11 answeredElsewhere, 12 platformLost. */
      reason: number;
    } | null;
  };
  /** A call's state changed. */
  CallStatusDelivery: Schemas["AnyDelivery"] & {
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "call.status";
    data: Schemas["CallStatus"];
  };
  /** The command was accepted. `call.status` events report its result. */
  CommandAccepted: {
    /** The call that the command acts on. */
    callId: string;
    /** User URI of the agent who starts or owns the call. */
    agentUri: string;
    /** The accepted command. */
    command: "dial" | "answer" | "hangup" | "hold" | "resume" | "transfer";
    /** Id of the command. The events that it causes carry this id. */
    commandId: string;
    /** The correlation id of `dial` or `transfer`. */
    correlationId: string | null;
    /** When the command was accepted. */
    acceptedAt: string;
    /** true: the call was already in the requested state, so the command does nothing and no event follows. */
    noop: boolean;
  };
  /** One cool-down, or several that followed each other because the endpoint failed each probe. */
  CoolDownPeriod: {
    /** When the first cool-down began, in UTC. */
    from: string;
    /** When the last cool-down ends, in UTC. An answer of the endpoint can end it sooner. */
    until: string;
  };
  /** The subscription, with the secret that signs its deliveries. */
  CreatedSubscription: Schemas["Subscription"] & {
    /** The secret that signs the deliveries according to Standard Webhooks (HMAC-SHA256, `v1`). Pass it to your verification library unchanged, and store it like a password: no other answer shows it. Only a repeat of this request with the same `Idempotency-Key` returns it again, for 24 hours. */
    secret: string;
  };
  /** The delivery of one event to one subscription, with its envelope. */
  Delivery: Schemas["DeliverySummary"] & {
    /** The body of the delivery. It is stored when the delivery is first parked, and kept while it is sent again. null if the delivery was never parked, or if `envelopeDropped` is true. */
    envelope: Schemas["DeliveryEnvelope"] | null;
    /** true if the delivery is parked but its envelope is no longer kept, because the subscription has more parked deliveries than its `parked.limit`. Such a delivery cannot be sent again (409 `delivery-without-body`). */
    envelopeDropped: boolean;
  };
  /** The body of a delivery. */
  DeliveryEnvelope: Schemas["AnyDelivery"] & {
    /** The event type, sent as `X-SVC-Event`. */
    eventType: string;
    /** The data of the event. Its schema depends on the event type. */
    data: Record<string, unknown>;
  };
  /** A page of deliveries. */
  DeliveryPage: Schemas["NextPage"] & {
    /** The items of this page, newest first. */
    items: Schemas["DeliverySummary"][];
  };
  /** No attempt is left, or the endpoint rejected the delivery. Sent once per run; read the delivery for its current state. Test deliveries cause no notice. Deliveries of `webhook.…` events never cause notices. */
  DeliveryParked: {
    /** The delivery. You can read it and send it again. */
    deliveryId: string;
    /** The subscription. */
    subscriptionId: string;
    /** URL of the endpoint without its query, which may contain a secret. */
    url: string;
    /** The event of the delivery. */
    eventId: string;
    /** The type of that event. */
    eventType: string;
    /** Why the delivery was parked. `exhausted`: the last scheduled attempt failed, or the endpoint stayed in its cool-down long after that attempt was due. `rejected`: the endpoint returned a response that is not retried. 0 unknown, 1 exhausted, 2 rejected. */
    parkedReason: number;
    /** 1 for the first schedule; each redelivery adds one. */
    run: number;
    /** Attempts made in all runs. */
    attempts: number;
    /** Outcome of the last attempt; `unknown` if there was none. 0 unknown, 1 delivered, 2 answered, 3 timeout, 4 dns, 5 refused, 6 tls, 7 reset, 8 network, 9 malformed, 10 blocked, 11 unusable-url, 12 lapsed, 13 proxy. */
    lastOutcome: number;
    /** HTTP status of that attempt; null if there was no response. */
    lastStatus: number | null;
    /** When the delivery was parked. */
    parkedAt: string;
    /** Same as `occurredAt` of the envelope. */
    occurredAt: string;
  };
  /** A delivery was parked. */
  DeliveryParkedDelivery: Schemas["AnyDelivery"] & {
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "webhook.delivery.parked";
    data: Schemas["DeliveryParked"];
  };
  /** How this installation delivers. */
  DeliveryPolicy: {
    /** The deadline of one attempt in ms. */
    deliveryTimeoutMs: number;
    /** The waits between attempts in ms. A delivery has one attempt more than there are waits. */
    retryWaitsMs: number[];
    /** When an endpoint is not contacted for a while. */
    breaker: {
      /** Transient failures in a row that begin a cool-down. As many also do that took over a second, among twice as many results. */
      failures: number;
      /** The length of a cool-down in ms. */
      cooldownMs: number;
    };
    /** How long deliveries and events are kept. */
    retention: {
      /** How long an acknowledged or withdrawn delivery can be read, in ms. */
      deliveryMs: number;
      /** How long a parked delivery is kept, in ms. */
      parkedMs: number;
      /** How long events are kept with their data, in ms; null: this installation does not keep them. */
      journalMs: number | null;
    };
    /** What one subscription or tenant can have. */
    limits: {
      /** Subscriptions that the tenant can have; one more answers 409 `too-many-subscriptions`. */
      subscriptionsPerTenant: number;
      /** Parked deliveries of one subscription that keep their body. */
      parkedPerSubscription: number;
      /** Parked deliveries of the tenant that keep their body. */
      parkedPerTenant: number;
      /** Settled deliveries of the tenant that are kept for `deliveryMs`; further ones for about a minute. */
      settledPerTenant: number;
      /** Deliveries of the tenant that wait for a retry; further ones are parked. */
      waitingPerTenant: number;
      /** Attempts that one worker makes at one subscription concurrently. */
      attemptsAtOnce: number;
      /** Likewise while the endpoint answers within 250 ms. */
      quickAttemptsAtOnce: number;
      /** Deliveries per second that a recovery sends at most. */
      recoveryPerSecond: number;
    };
    /** The addresses and networks that deliveries come from, for the allow-list of a firewall. Empty: the operator has not named them. */
    egressAddresses: string[];
  };
  /** The delivery of one event to one subscription. */
  DeliverySummary: {
    /** The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt. */
    deliveryId: string;
    /** The id of the subscription. */
    subscriptionId: string;
    /** The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it. */
    eventId: string;
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** The endpoint. null for a pull subscription, or if the subscription was deleted before the first attempt was finished. */
    url: string | null;
    /** `pending`: the first attempt of this run is due or in progress. `waiting`: the next attempt is scheduled, because an attempt failed or could not be made, for example in a cool-down (`attempts` can be empty then). `acknowledged`: answered with a 2xx. `parked`: no longer retried, but kept. `withdrawn`: never sent, because the subscription was deleted, disabled or unsubscribed from the event type before the first attempt. `expired`: not sent any more, because the event was older than `expireAfterSeconds` of the subscription. */
    state: "pending" | "waiting" | "held" | "acknowledged" | "parked" | "withdrawn" | "expired";
    /** `exhausted`: the schedule ended without an acknowledgement, a cool-down lasted too long after the last slot, or more deliveries were held, or waited for a retry, than may. `rejected`: the endpoint answered with a status that is not retried. */
    parkedReason: "exhausted" | "rejected" | null;
    /** When the delivery was parked, in UTC. */
    parkedAt: string | null;
    /** Approximate time of the next attempt, in UTC; null if none is scheduled. */
    nextAttemptAt: string | null;
    /** The run of the schedule: 1 at first, one more each time the delivery is sent again. */
    run: number;
    /** Whether this is a test delivery (`POST …/test`) and not an event. */
    test: boolean;
    /** When the first attempt of this run was due, in UTC. */
    firstDueAt: string;
    /** The attempts, the oldest first. Of those that lapsed, only the latest five are listed: `attempt` of the latest counts all. */
    attempts: Schemas["Attempt"][];
  };
  DialCommand: {
    /** User URI of the agent who starts or owns the call. */
    agentUri: string;
    /** Number or URI to dial. The simulator knows these numbers: `+15550100` answers after 1 s, `+15550101` is busy, `+15550102` never answers (the call ends after 30 s), `+15550103` is a bad address, `+15550104` answers and cannot be held, `+15550105` answers and hangs up 5 s later, `+15550106` answers and puts the agent on hold 2 s later, for 3 s, `+1555011n` answers after n seconds. Any other number answers after 2.5 s. The URI of another agent rings that agent for 30 s. */
    destination: string;
    /** Presentation number that the called party sees. `anonymous` withholds the number. Absent or null: the platform chooses. */
    cli?: string | null;
    /** Your own id for tracing, repeated in every event of the call. Without an `Idempotency-Key`, a dial with the same agent, destination and correlation id returns the earlier call while that call lives, even if the earlier dial had a key; after its end it dials again. A dial with a new key starts a new call. Empty: as if absent. */
    correlationId?: string | null;
  };
  /** An endpoint failed several times in a row and is in its cool-down. Sent once per outage. Deliveries of `webhook.…` events never cause notices. */
  EndpointFailing: {
    /** The subscription. */
    subscriptionId: string;
    /** URL of the endpoint without its query, which may contain a secret. */
    url: string;
    /** Consecutive transient failures. */
    failures: number;
    /** When the first cool-down began. */
    since: string;
    /** When the first cool-down ends and one attempt probes the endpoint. */
    until: string;
    /** Outcome of the last of these attempts. 0 unknown, 1 delivered, 2 answered, 3 timeout, 4 dns, 5 refused, 6 tls, 7 reset, 8 network, 9 malformed, 10 blocked, 11 unusable-url, 12 lapsed, 13 proxy. */
    lastOutcome: number;
    /** HTTP status of that attempt; null if there was no response. */
    lastStatus: number | null;
    /** Same as `occurredAt` of the envelope. */
    occurredAt: string;
  };
  /** An endpoint is failing. */
  EndpointFailingDelivery: Schemas["AnyDelivery"] & {
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "webhook.endpoint.failing";
    data: Schemas["EndpointFailing"];
  };
  /** The state of the endpoint. After 5 transient failures in a row, or 5 of its last 10 results that failed after more than a second, it gets a cool-down of 30 s (these are defaults): deliveries and tests (`…/test`) that fall due wait for their next slot. After the cool-down one attempt decides whether another begins. A receiver check (`…/check`) ignores the cool-down and does not end it. A failing endpoint is never disabled. */
  EndpointHealth: {
    /** `closed`: deliveries are sent normally. `open`: the endpoint is in a cool-down. `probing`: the cool-down is over, and the next attempt decides whether another begins. */
    state: "closed" | "open" | "probing";
    /** The number of transient failures in a row, over all deliveries. */
    consecutiveFailures: number;
    /** When the cool-down ends or ended, in UTC; null if `state` is `closed`. */
    openUntil: string | null;
    /** When the endpoint last acknowledged a delivery, in UTC; null if it acknowledged none in the last 90 days. Updated a few seconds after an attempt. */
    lastSuccessAt: string | null;
    /** When an attempt last failed or was answered with a status other than 2xx, in UTC; null if none was in the last 90 days. Updated a few seconds after an attempt. */
    lastFailureAt: string | null;
    /** The outcome of the attempt at `lastFailureAt`; null if `lastFailureAt` is null. `answered`: see `lastFailureStatus`. Without an answer: `timeout` (no answer before the timeout), `dns` (the host name does not resolve), `refused` (the connection was refused), `tls` (the TLS handshake failed or the certificate is invalid), `reset` (the connection was closed before an answer), `network` (the address cannot be reached), `malformed` (the answer was not valid HTTP), `blocked` (the address is private or reserved, and the installation does not allow it), `unusable-url` (the url cannot be requested), `lapsed` (the client that received the delivery reported no outcome before its lease ended), `proxy` (the proxy of the installation made no connection; the endpoint is not at fault). */
    lastFailureOutcome: "answered" | "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed" | "blocked" | "unusable-url" | "lapsed" | "proxy" | null;
    /** The HTTP status of the attempt at `lastFailureAt`; null if there was no answer or no failure. */
    lastFailureStatus: number | null;
    /** The first failure after `lastSuccessAt`, in UTC, to within a few seconds; null if the latest attempt was acknowledged, or none was made. */
    failingSince: string | null;
  };
  /** An endpoint reported as failing accepts deliveries again. Waiting deliveries follow their schedule. This notice is not sent if the accepted delivery was a `webhook.…` event or if the broker was unavailable at that moment; `health` of the subscription always has the current state. */
  EndpointRecovered: {
    /** The subscription. */
    subscriptionId: string;
    /** URL of the endpoint without its query, which may contain a secret. */
    url: string;
    /** When the first cool-down began; same as in the `webhook.endpoint.failing` notice. */
    since: string;
    /** When the endpoint accepted a delivery. */
    recoveredAt: string;
    /** Same as `occurredAt` of the envelope. */
    occurredAt: string;
  };
  /** An endpoint recovered. */
  EndpointRecoveredDelivery: Schemas["AnyDelivery"] & {
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "webhook.endpoint.recovered";
    data: Schemas["EndpointRecovered"];
  };
  /** The delivery of an event to one subscription. */
  EventDelivery: {
    /** The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt. */
    deliveryId: string;
    /** The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it. */
    eventId: string;
    /** The id of the subscription. */
    subscriptionId: string;
    /** The state of the delivery, as `GET /webhooks/deliveries/{deliveryId}` shows it. */
    state: "pending" | "waiting" | "held" | "acknowledged" | "parked" | "withdrawn" | "expired";
  };
  /** The subscription that the event is sent to. */
  EventDeliveryRequest: {
    /** The id of the subscription. */
    subscriptionId: string;
  };
  /** A page of events. */
  EventPage: Schemas["NextPage"] & {
    /** The items of this page, newest first. */
    items: Schemas["ListedEvent"][];
  };
  /** An event type, with the schema and an example of its deliveries. */
  EventTypeDescription: {
    /** The name of the event type. */
    type: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** What the event reports. */
    description: string;
    /** The JSON Schema (2020-12) of the whole delivery body. */
    schema: Record<string, unknown>;
    /** An example of a delivery body. */
    example: Record<string, unknown>;
  };
  /** The event types that you can subscribe to. */
  EventTypes: {
    /** The event types. */
    items: Schemas["EventTypeDescription"][];
  };
  /** An event, with one explanation per subscription. */
  ExplainedEvent: Schemas["NextPage"] & {
    /** The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it. */
    eventId: string;
    /** The event type, sent as `X-SVC-Event`. */
    eventType: string;
    /** When the event occurred, in UTC; null if only its deliveries are still stored. */
    occurredAt: string | null;
    /** When the event was fanned out to its subscriptions, in UTC. */
    fannedOutAt: string;
    /** The data of the event, as deliveries have it; null if the journal does not have it (any more), and for a test. */
    data: Record<string, unknown> | null;
    /** One explanation for each current subscription and each subscription that the event was fanned out to. For a test, only its own subscription. */
    subscriptions: Schemas["Explanation"][];
  };
  /** Whether one subscription received the event, and why or why not. */
  Explanation: {
    /** The id of the subscription. */
    subscriptionId: string;
    /** The endpoint; null for a pull subscription, or if the subscription was deleted and nothing was sent. */
    url: string | null;
    /** `delivered`: answered with a 2xx. `pending`: an attempt is due now. `waiting`: the next attempt is scheduled, because an attempt failed or could not be made, for example in a cool-down (`attemptCount` can be 0 then). `cooling-down`: an attempt is due or scheduled, but the endpoint is in a cool-down. `parked`: no longer retried, but kept. `withdrawn`: never sent, because the subscription was deleted, disabled, unsubscribed from the event type, or got a filter that refuses the event, before the first attempt. `expired`: not sent any more, because the event was older than `expireAfterSeconds` of the subscription. `deleted`: the subscription was deleted before the first attempt was finished; `withdrawn` follows, unless that attempt had already begun. `not-subscribed`: the subscription does not receive this event type. `filtered`: its filter refuses the event; `explanation` names the field and its value. `disabled`: the subscription is disabled and did not receive the event, unless a first attempt had already begun. `created-later`: the subscription was created after the event was fanned out. `changed-later`: it was disabled, did not receive this event type, or had a filter that refused the event, when it was fanned out. `unknown`: the records have expired. */
    verdict: "delivered" | "pending" | "waiting" | "held" | "cooling-down" | "parked" | "withdrawn" | "expired" | "not-subscribed" | "filtered" | "disabled" | "created-later" | "changed-later" | "deleted" | "unknown";
    /** The verdict in a sentence. For people; the wording may change. */
    explanation: string;
    /** The id of the delivery (see `GET /webhooks/deliveries/{deliveryId}`); null if there is none. */
    deliveryId: string | null;
    /** The number of attempts so far, over all runs. */
    attemptCount: number;
    /** The latest attempt; null if there is none. */
    lastAttempt: Schemas["Attempt"] | null;
    /** When the endpoint acknowledged the delivery, in UTC. */
    deliveredAt: string | null;
    /** Approximate time of the next attempt, in UTC; null if none is scheduled. A cool-down at that time postpones it again. */
    nextAttemptAt: string | null;
    /** When the cool-down ends, in UTC; null unless the verdict is `cooling-down`. */
    coolingUntil: string | null;
    /** When the delivery was parked, in UTC. */
    parkedAt: string | null;
    /** `exhausted`: the schedule ended without an acknowledgement, a cool-down lasted too long after the last slot, or more deliveries were held, or waited for a retry, than may. `rejected`: the endpoint answered with a status that is not retried. */
    parkedReason: "exhausted" | "rejected" | null;
  };
  /** One invalid field or parameter. */
  Fault: {
    /** A JSON pointer (RFC 6901) into the body, or `/<name>` for a query parameter. */
    pointer: string;
    /** What is wrong with the value. */
    detail: string;
  };
  /** An event, and whether it passes. */
  FilterExample: {
    /** The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it. */
    eventId: string;
    /** The event type. */
    eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** When the event occurred, in UTC. */
    occurredAt: string;
    /** Why the event does not pass; null if it does. */
    refusal: string | null;
  };
  /** What the filter would have passed. */
  FilterPreview: {
    /** The number of events of these types that were judged, the latest of the journal. */
    looked: number;
    /** The number of these events that pass. */
    matched: number;
    /** When the oldest event that was looked at was journaled, in UTC. */
    since: string | null;
    /** The latest 5 events that pass and the latest 5 that do not, the newest first. */
    examples: Schemas["FilterExample"][];
    /** What in the settings is valid and probably not meant. */
    warnings: Schemas["SubscriptionWarning"][];
  };
  /** The filter to try. */
  FilterPreviewRequest: {
    /** The filter, as in a subscription. */
    filter: Record<string, Record<string, readonly FilterCondition[]>>;
    /** The event types of the subscription. Omitted or null: those that the filter names. */
    eventTypes?: Schemas["SubscribedType"][] | null;
  };
  /** The deliveries that are held: those of a pull subscription, those beyond `maxInFlight` or `maxPerSecond`, and those of a paused subscription, until a moment after it was resumed. At most as many as `parked.limit`; beyond that, those that have been held for longest are parked. */
  HeldDeliveries: {
    /** The number of held deliveries. */
    count: number;
    /** How many of them a client has received. They are leased to it. */
    leased: number;
    /** Since when the oldest of the others has been due, in UTC; null: there is none. */
    oldestAt: string | null;
    /** When a client last asked for deliveries, in UTC, to within 30 seconds; null: not within 38 days, or the subscription is not a pull subscription. */
    lastReceivedAt: string | null;
  };
  /** The held deliveries of a subscription are more than 80 % of their limit. Beyond the limit, those that have been held for longest are parked. Sent once each time. Receive them, resume the subscription, or raise its limits; `held` of the subscription shows how many there are. */
  HeldLimit: {
    /** The subscription: a pull subscription, a paused one, or one with `maxInFlight` or `maxPerSecond`. */
    subscriptionId: string;
    /** How many deliveries of the subscription may be held. */
    limit: number;
    /** How many were held when the notice was due. */
    held: number;
    /** Same as `occurredAt` of the envelope. */
    occurredAt: string;
  };
  /** Many held deliveries. */
  HeldLimitDelivery: Schemas["AnyDelivery"] & {
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "webhook.held.limit";
    data: Schemas["HeldLimit"];
  };
  LegCommand: {
    /** User URI of the agent who starts or owns the call. */
    agentUri: string;
  };
  /** An event, with the ids in its data. */
  ListedEvent: {
    /** The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it. */
    eventId: string;
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** When the event occurred, in UTC. */
    occurredAt: string;
    /** When the event was listed, in UTC: about 50 ms after it was fanned out. */
    listedAt: string;
    /** The id of the call; null if the event has none. */
    callId: string | null;
    /** The URI of the agent; null if the event has none. */
    agentUri: string | null;
    /** The `correlationId` that the client sent with the command; null if the event has none. */
    correlationId: string | null;
    /** The phone number of the other party; null if the event has none. */
    number: string | null;
  };
  /** The caller, as its token identifies it. */
  Me: {
    /** The tenant whose data the caller sees; null: the installation itself. */
    tenant: string | null;
    /** The token's `sub`; the client if the token has none. */
    subject: string;
    /** The client that the token names in `azp`, `client_id`, `appid` or `cid`, or else its `sub`; `trusted-network` for a request without a token. */
    clientId: string;
    /** The roles of the caller, the least first. A role includes the ones before it. */
    roles: ("viewer" | "operator" | "admin")[];
    /** What this installation has. Later versions may add features. */
    features: {
      /** Events are kept with their data, and can be sent again. */
      journal: boolean;
      /** The contact center is simulated, and its routes under `/simulator` are served. */
      simulator: boolean;
    };
  };
  /** The state of a delivery after its outcome was reported. */
  OutcomeResult: {
    /** The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt. */
    deliveryId: string;
    /** `lease-lost`: the lease had ended, or an earlier report, also one that failed, has used it. `state` shows what became of the delivery. */
    result: "done" | "lease-lost";
    /** The state of the delivery, as in `GET /webhooks/deliveries/{deliveryId}`; `unknown` if its record has expired. */
    state: string;
    /** When the next attempt is due; null if there is none. */
    nextAttemptAt: string | null;
  };
  /** What became of each delivery, in the order of the request. */
  OutcomeResults: {
    /** One item per delivery. */
    items: Schemas["OutcomeResult"][];
  };
  /** The parked deliveries of one subscription with the same cause. */
  ParkedCause: {
    /** The id of the subscription. */
    subscriptionId: string;
    /** The endpoint to which the latest of these deliveries was sent; empty if none of them was read. */
    url: string;
    /** `exhausted`: the schedule ended without an acknowledgement, a cool-down lasted too long after the last slot, or more deliveries were held, or waited for a retry, than may. `rejected`: the endpoint answered with a status that is not retried. null: a group of older deliveries that were not read. */
    parkedReason: "exhausted" | "rejected" | null;
    /** The outcome of the latest attempt; null if there was none. */
    outcome: "delivered" | "answered" | "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed" | "blocked" | "unusable-url" | "lapsed" | "proxy" | null;
    /** The HTTP status of the latest attempt; null if there was no answer. */
    status: number | null;
    /** The number of these deliveries. */
    count: number;
    /** When the first of these deliveries was parked, in UTC. */
    since: string;
    /** When the latest of these deliveries was parked, in UTC. */
    latest: string;
  };
  /** The parked deliveries of the tenant, grouped by their cause. */
  ParkedCauses: {
    /** When the deliveries were counted, in UTC. */
    asOf: string;
    /** The groups, the largest first. */
    items: Schemas["ParkedCause"][];
  };
  /** The parked deliveries of the subscription. The newest `limit` deliveries keep their body; fewer if the tenant as a whole has too many parked deliveries. Older ones lose their body: you can read them, but not send them again. The newest `limit` deliveries without a body are kept; older ones are dropped. A `webhook.parked.limit` event reports that the limit was exceeded. */
  ParkedDeliveries: {
    /** The number of parked deliveries, including those without a body. It can briefly include deliveries that are no longer parked. */
    count: number;
    /** The number of parked deliveries that keep their body. */
    limit: number;
    /** The number of parked deliveries without a body. They cannot be sent again. */
    withoutBody: number;
    /** The number of dropped deliveries. It is reset when no delivery was dropped or lost its body for the retention time of parked deliveries (30 days by default). */
    dropped: number;
  };
  /** A subscription has more parked deliveries than the limit. The oldest lose their body first and their record later. Sent once each time the limit is crossed. Fix the endpoint or send parked deliveries again before more are lost; `parked` of the subscription shows how many are affected. */
  ParkedLimit: {
    /** The subscription. */
    subscriptionId: string;
    /** Number of parked deliveries, the newest ones, that keep their body. */
    limit: number;
    /** Number of parked deliveries when the limit was crossed. */
    parked: number;
    /** Same as `occurredAt` of the envelope. */
    occurredAt: string;
  };
  /** Too many parked deliveries. */
  ParkedLimitDelivery: Schemas["AnyDelivery"] & {
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "webhook.parked.limit";
    data: Schemas["ParkedLimit"];
  };
  /** Percentiles in ms, estimated from a histogram. Between 1 ms and 10 s an estimate is within a factor of 2.5 of the true value; the buckets above are wider. */
  Percentiles: {
    /** 50 % of the values are at most this, in ms. */
    p50: number;
    /** 95 % of the values are at most this, in ms. */
    p95: number;
    /** 99 % of the values are at most this, in ms. */
    p99: number;
  };
  PresenceSetting: {
    /** The user status code, as a string; a JSON number is accepted as well. An unknown code is answered with the list of known codes. */
    statusCode: string;
    /** When the status ends and the standing status returns: a time in the future until 9999-12-31T23:59:59.999Z, with a time zone as hours and minutes. Absent or null: sets the standing status. */
    until?: string | null;
    /** Free text, shown with the status. */
    message?: string | null;
    /** The agent's location, shown with the status. */
    location?: string | null;
  };
  /** An error (RFC 9457). Branch on `code`: the texts are for people and may change. */
  Problem: {
    /** The path of the documentation of `code` in this installation, `/api/v1/docs/problems#{code}`. Resolve it against the url of the request. */
    type: string;
    /** The meaning of `code`. */
    title: string;
    /** The HTTP status. */
    status: number;
    /** Identifies the error. Codes are stable. */
    code: "invalid-request" | "malformed-json" | "invalid-webhook-url" | "unknown-event-type" | "invalid-filter" | "unknown-status-code" | "missing-agent-uri" | "unauthorized" | "forbidden" | "host-not-allowed" | "cross-site-request" | "not-found" | "subscription-not-found" | "delivery-not-found" | "event-not-found" | "recovery-not-found" | "agent-not-found" | "call-not-found" | "method-not-allowed" | "invalid-call-state" | "remote-answer-unsupported" | "transfer-in-progress" | "agent-device-unavailable" | "delivery-not-parked" | "delivery-without-body" | "event-without-body" | "journal-off" | "subscription-disabled" | "subscription-deleted" | "too-many-secrets" | "external-id-taken" | "too-many-subscriptions" | "subscription-not-pull" | "subscription-pull" | "check-running" | "secret-unavailable" | "recovery-in-progress" | "idempotency-key-in-use" | "precondition-failed" | "body-too-large" | "unsupported-media-type" | "idempotency-key-reused" | "rate-limited" | "too-many-listeners" | "too-many-client-listeners" | "too-many-checks" | "too-many-receivers" | "internal" | "platform-unavailable" | "check-unfinished" | "outcomes-unfinished" | "service-unavailable";
    /** The `X-Request-Id` of the answer. Quote it when you contact the operator. */
    requestId: string;
    /** More about this error. */
    detail?: string;
    /** The invalid fields or parameters of the request; of thousands, the first ten of each kind. */
    errors?: Schemas["Fault"][];
    /** The known event types. Present if `url` or `eventTypes` is invalid. */
    knownEventTypes?: string[];
    /** The fields that a filter can name, by event type. Present if `filter` is invalid. */
    knownFields?: Record<string, string[]>;
    /** The known user status codes. Present if a presence was rejected. */
    knownStatusCodes?: Schemas["UserStatus"][];
    /** The role that the operation needs. Present if the caller does not have it. */
    requiredRole?: "viewer" | "operator" | "admin";
    /** The current state of the agent's leg. Present if a command was rejected. 0 unknown, 1 initiated, 2 alerting, 3 connected, 4 held, 5 queued, 6 failed, 7 ended, 8 proceeding. */
    currentState?: number;
    /** The commands that are possible in this state with this agent's device. Present if a command was rejected. */
    allowedCommands?: ("dial" | "answer" | "hangup" | "hold" | "resume" | "transfer")[];
  };
  /** How many deliveries to receive, and how long to wait for the first. All fields are optional. */
  Receive: {
    /** The maximum number of deliveries. Default: `10`. */
    max?: number;
    /** How long the request waits for a delivery. Cancel the request to stop waiting. Default: `20`. */
    waitSeconds?: number;
    /** How long the deliveries are yours. Report each outcome before the lease ends; otherwise the attempt counts as failed (`lapsed`), and the delivery is due again immediately. Default: `30`. */
    leaseSeconds?: number;
  };
  /** The received deliveries, the one that was due first at the beginning. */
  Received: {
    /** Empty if no delivery became due in time. There can be fewer than `max` even if more are held. */
    items: Schemas["ReceivedDelivery"][];
    /** How many deliveries are still held, without those that clients have received. */
    held: number;
    /** Since when the oldest of them is due; null if there is none. */
    oldestHeldAt: string | null;
  };
  /** A delivery: one attempt, which is yours until `leasedUntil`. */
  ReceivedDelivery: {
    /** The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt. */
    deliveryId: string;
    /** The number of this attempt, sent as `X-SVC-Attempt`. */
    attempt: number;
    /** Proves that the delivery is yours. Each receipt of a delivery has another one. */
    leaseToken: string;
    /** When the lease ends, by the clock of Switchhook. */
    leasedUntil: string;
    /** The headers of the POST that this attempt would be, signed now. */
    headers: Record<string, string>;
    /** The body of that POST. The signature covers its bytes in UTF-8. */
    body: string;
  };
  /** The result of one check. */
  ReceiverFinding: {
    /** `delivery`: the endpoint acknowledges a delivery. `speed`: within half of the timeout. `duplicate`: it acknowledges the same delivery again. `forged-signature`: it rejects a wrong signature with a 4xx. `stale-timestamp`: it rejects an old timestamp with a 4xx. `kept-connection`: on a connection that it keeps, it sends nothing but one answer to each request. */
    check: "delivery" | "speed" | "duplicate" | "forged-signature" | "stale-timestamp" | "kept-connection";
    /** `skipped`: the check could not run. */
    result: "passed" | "failed" | "skipped";
    /** The observed answer. For people; the wording may change. */
    seen: string;
    /** What to fix; null if there is nothing to fix. For people; the wording may change. */
    advice: string | null;
  };
  /** The findings of a check, with advice. */
  ReceiverReport: {
    /** `needs-work`: at least one check failed. */
    verdict: "good" | "needs-work";
    /** One finding per check. */
    findings: Schemas["ReceiverFinding"][];
  };
  /** A recovery sends the parked deliveries of a subscription again. A backfill sends events of the journal that the subscription did not get. */
  Recovery: {
    /** The id of the recovery. */
    recoveryId: string;
    /** The id of the subscription. */
    subscriptionId: string;
    /** `recovery`: sends parked deliveries again. `backfill`: sends events of the journal. */
    kind: "recovery" | "backfill";
    /** `request`: a client started it. `recoverRejected`: it started automatically, because the subscription has this setting and the endpoint acknowledged a delivery after it had rejected some. It sends only deliveries that were not sent again before. */
    startedBy: "request" | "recoverRejected";
    /** Only deliveries parked at this time or later. Omitted or null: no limit. */
    from: string | null;
    /** Only deliveries parked before this time. Omitted or null: until now. Deliveries parked after the recovery began are never sent. */
    to: string | null;
    /** Only deliveries parked for this reason: `exhausted` after an outage, `rejected` after the receiver rejected deliveries by mistake. Omitted or null: both. */
    reason: "exhausted" | "rejected" | null;
    /** Only deliveries of these event types. Omitted or null: all. */
    eventTypes: ("call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit")[] | null;
    /** The maximum rate in deliveries per second. The limit of the installation always applies as well. */
    maxPerSecond: number | null;
    /** `running`: it sends deliveries. `paused`: it resumes automatically; `waitingFor` has the reason. `done`: it has processed all deliveries. `cancelled`: see `cancelledBecause`. */
    state: "running" | "paused" | "done" | "cancelled";
    /** Why a paused recovery sends nothing. `endpoint-cooling-down`: the endpoint is in a cool-down. `endpoint-answers`: a delivery that was sent three seconds ago has no result yet, because the endpoint is slow, its limits hold it, or the workers are busy. `subscription-enabled`: the subscription is disabled. `subscription-resumed`: the subscription is paused. `broker`: the message broker of the service is unavailable. */
    waitingFor: "endpoint-cooling-down" | "endpoint-answers" | "subscription-enabled" | "subscription-resumed" | "broker" | null;
    /** Why the recovery was cancelled; null if it was not. `no-progress`: it was paused and sent nothing for 30 days. `parked-again`: it had started automatically, and a quarter of what it had sent was parked again; the next one starts after the next 2xx. */
    cancelledBecause: "requested" | "subscription-deleted" | "no-progress" | "parked-again" | null;
    /** The number of selected deliveries or events when the recovery began. */
    found: number;
    /** The number of deliveries sent so far. Read a delivery to see its result. */
    sent: number;
    /** The number of deliveries that were no longer parked when the recovery reached them; of a backfill, those that exist already. */
    skipped: number;
    /** The number of deliveries that could not be sent, mostly because their body is no longer kept (see `parked` of the subscription), or the journal has no data of their event. */
    failed: number;
    /** The number of deliveries still to be sent. After a cancellation they stay parked. */
    remaining: number;
    /** The number of deliveries of the subscription that were parked after the recovery began: deliveries that it sent and that failed again, and newly parked ones. */
    parkedSince: number;
    /** The current rate in deliveries per second. It doubles every three seconds up to the limit; after a pause it begins at 1 again. 0 while it is paused or over. */
    perSecond: number;
    /** When the recovery began, in UTC. */
    startedAt: string;
    /** When the recovery was last updated, in UTC. */
    updatedAt: string;
    /** When the recovery was done or cancelled, in UTC; null while it runs. */
    endedAt: string | null;
  };
  /** The deliveries that a recovery or backfill would send. */
  RecoveryCount: {
    /** The number of deliveries that would be sent. */
    count: number;
    /** The number of deliveries that cannot be sent, because their body is no longer kept. */
    withoutBody: number;
    /** Only of a backfill: the number of events that went to more than 100 subscriptions, so that the journal does not show whether this one got them. They are not sent. */
    unknown?: number;
    /** When the oldest of them was parked or journaled, in UTC. */
    oldest: string | null;
    /** When the newest of them was parked or journaled, in UTC. */
    newest: string | null;
  };
  /** The parked deliveries to send again; `{}` for all. Unknown fields are rejected, because a misspelt `from` would send everything. */
  RecoveryInput: {
    /** Only deliveries parked at this time or later. Omitted or null: no limit. */
    from?: string | null;
    /** Only deliveries parked before this time. Omitted or null: until now. Deliveries parked after the recovery began are never sent. */
    to?: string | null;
    /** Only deliveries parked for this reason: `exhausted` after an outage, `rejected` after the receiver rejected deliveries by mistake. Omitted or null: both. */
    reason?: "exhausted" | "rejected" | null;
    /** Only deliveries of these event types. Omitted or null: all. */
    eventTypes?: ("call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit")[] | null;
    /** The maximum rate in deliveries per second. The limit of the installation always applies as well. */
    maxPerSecond?: number | null;
  };
  /** The newest recoveries of a subscription. */
  RecoveryList: {
    /** The recoveries, the newest first. */
    items: Schemas["Recovery"][];
  };
  /** A page of recoveries. */
  RecoveryPage: Schemas["NextPage"] & {
    /** The items of this page, newest first. */
    items: Schemas["Recovery"][];
  };
  RemoteAction: {
    /** What the outside party does. */
    action: "answer" | "hangup" | "hold" | "resume";
  };
  /** The outcome of one attempt: exactly one of `status`, `error` and `release`. */
  ReportedOutcome: {
    /** The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt. */
    deliveryId: string;
    /** Proves that the delivery is yours. Each receipt of a delivery has another one. */
    leaseToken: string;
    /** The HTTP status that your handler answered, or the one that says the same: 2xx acknowledges, 408, 425, 429 and 5xx are retried, any other parks. */
    status?: number;
    /** Why there was no status. The delivery is retried. */
    error?: "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed";
    /** true gives the delivery back, to its place among those that are due. No attempt is counted. */
    release?: boolean;
    /** How long the attempt took. Default: the time since the delivery was received. */
    durationMs?: number;
    /** The beginning of the answer, shown with the attempt. Secrets are removed. Ignored without a status, and for a 2xx. */
    answer?: string;
  };
  /** The outcomes of received deliveries. */
  ReportedOutcomes: {
    /** One item per delivery. */
    items: Schemas["ReportedOutcome"][];
  };
  /** The new secret, which signs all deliveries from now on. */
  RotatedSecret: {
    /** The secret that signs the deliveries according to Standard Webhooks (HMAC-SHA256, `v1`). Pass it to your verification library unchanged, and store it like a password: no other answer shows it. Only a repeat of this request with the same `Idempotency-Key` returns it again, for 24 hours. */
    secret: string;
    /** When the last previous secret stops signing, in UTC; null if only the current secret signs. */
    previousValidUntil: string | null;
  };
  /** Unknown fields are rejected, because a misspelt `overlapSeconds` would keep a leaked secret valid. */
  SecretRotation: {
    /** How many seconds the previous secrets keep signing. This never extends the time of an older secret. Send 0 if a secret has leaked: only the new one signs then. If omitted, the installation decides (24 hours by default). */
    overlapSeconds?: number;
  };
  /** The identity providers that people can sign in with from the command line. */
  SignInOffer: {
    /** The identity providers. Empty: none, or name your organization first. */
    issuers: {
      /** The OpenID Connect issuer; its discovery document has the endpoints. */
      issuer: string;
      /** The public client of the command line at this issuer. */
      clientId: string;
      /** The scopes to request, separated by spaces. */
      scope: string;
      /** The organization. Absent: the caller has not named it. */
      name?: string;
    }[];
    /** There are several organizations, which are not listed: name one in `organization`. */
    asksOrganization: boolean;
  };
  SimulatedCall: {
    /** User URI of the agent. */
    agentUri: string;
    /** The caller's number or URI. */
    from: string;
    /** Tenant of the agent, if several tenants have an agent with this URI. Ignored with a token. */
    tenant?: string;
    /** How long the caller waits for an answer, in seconds; 30 if absent. */
    ringForSeconds?: number;
    /** How long the caller talks, in seconds; 600 if absent. */
    talkForSeconds?: number;
  };
  /** The call rings at the agent. */
  SimulatedCallRinging: {
    /** The new call. */
    callId: string;
    /** User URI of the agent. */
    agentUri: string;
    /** The caller's number or URI. */
    from: string;
  };
  SimulatedDevice: {
    /** true: online; false: offline. */
    online: boolean;
    /** Tenant of the agent, if several tenants have an agent with this URI. Ignored with a token. */
    tenant?: string;
  };
  /** What happened to the deliveries of a subscription, or of the whole tenant, over time. */
  Statistics: {
    /** The period of each point. */
    step: "1m" | "1h";
    /** false: this subscription has no statistics at the moment, because as many other subscriptions of the tenant as can have them were active in the last hour. */
    isCounted: boolean;
    /** The minutes or hours in which anything happened, the oldest first. The others are left out. */
    points: Schemas["StatisticsPoint"][];
    /** When the endpoint was not contacted because it kept failing, the oldest first: the periods of the last 30 days that touch the range, at most the latest 100. Empty without `subscriptionId`. */
    coolDowns: Schemas["CoolDownPeriod"][];
  };
  /** One minute or hour. */
  StatisticsPoint: {
    /** When the minute or hour begins, in UTC. */
    at: string;
    /** POSTs made, including tests and redeliveries. */
    attempts: number;
    /** Attempts that were answered with a 2xx. */
    acknowledged: number;
    /** The attempts by outcome, without zeros: `delivered` (a 2xx), a frequent status such as `503`, the class of any other status such as `4xx`, or the outcome of an attempt without an answer, such as `timeout`. */
    byOutcome: Record<string, number>;
    /** Deliveries that were parked. */
    parked: number;
    /** Deliveries that expired (`expireAfterSeconds`). */
    expired: number;
    /** From the start of an attempt to its answer. An attempt that timed out counts with its whole wait; other attempts without an answer do not count. null: there was none. */
    answerMs: Schemas["Percentiles"] | null;
    /** From the event to the start of the first attempt of each of its deliveries. null: there was none. */
    delayMs: Schemas["Percentiles"] | null;
  };
  /** An attempt in the live stream, and the state of its delivery after it. */
  StreamAttempt: {
    /** The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt. */
    deliveryId: string;
    /** The id of the subscription. */
    subscriptionId: string;
    /** The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it. */
    eventId: string;
    /** The event type. */
    eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** The number of the attempt, over all runs; sent as `X-SVC-Attempt`. */
    attempt: number;
    /** When the POST began, in UTC. */
    at: string;
    /** `delivered`: answered with a 2xx. `answered`: answered with any other status. Without an answer: `timeout` (no answer before the timeout), `dns` (the host name does not resolve), `refused` (the connection was refused), `tls` (the TLS handshake failed or the certificate is invalid), `reset` (the connection was closed before an answer), `network` (the address cannot be reached), `malformed` (the answer was not valid HTTP), `blocked` (the address is private or reserved, and the installation does not allow it), `unusable-url` (the url cannot be requested), `lapsed` (the client that received the delivery reported no outcome before its lease ended), `proxy` (the proxy of the installation made no connection; the endpoint is not at fault). */
    outcome: "delivered" | "answered" | "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed" | "blocked" | "unusable-url" | "lapsed" | "proxy";
    /** The HTTP status; null if there was no answer. */
    status: number | null;
    /** The duration in milliseconds. */
    durationMs: number;
    /** `pending`: the first attempt of this run is due or in progress. `waiting`: the next attempt is scheduled, because an attempt failed or could not be made, for example in a cool-down (`attempts` can be empty then). `acknowledged`: answered with a 2xx. `parked`: no longer retried, but kept. `withdrawn`: never sent, because the subscription was deleted, disabled or unsubscribed from the event type before the first attempt. `expired`: not sent any more, because the event was older than `expireAfterSeconds` of the subscription. */
    state: "pending" | "waiting" | "held" | "acknowledged" | "parked" | "withdrawn" | "expired";
  };
  /** An event of the live stream. */
  StreamEvent: {
    /** The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it. */
    eventId: string;
    /** The event type. */
    eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** When the event occurred, in UTC. */
    occurredAt: string;
    /** The data of the event, as its deliveries have it; null if it is larger than 16 KiB. */
    data: Record<string, unknown> | null;
    /** The subscriptions that the event went to, at most 100. */
    subscriptions: string[];
    /** The number of these subscriptions. */
    subscriptionCount: number;
  };
  /** Something is missing in the live stream: read lists and states again. */
  StreamGap: {
    /** Events or attempts after this place may be missing. */
    after: string;
    /** The stream continues at this place. */
    resumedAt: string;
  };
  /** The place that the live stream has reached. */
  StreamPlace: {
    /** A place in the stream. */
    place: string;
  };
  /** An event type, or `*` for all. */
  SubscribedType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit" | "*";
  /** Delivers events of the chosen types to an endpoint. */
  Subscription: {
    /** The id of the subscription. */
    id: string;
    /** `post`: deliveries are sent to `url`. `pull`: clients receive them with `POST /webhooks/subscriptions/{id}/receive`. Cannot be changed. */
    mode: "post" | "pull";
    /** null for a pull subscription. The endpoint that receives the deliveries: an absolute http or https url (in production https only, unless configured otherwise) without credentials, fragment, whitespace, control characters or backslashes. `localhost` and private, loopback, link-local, multicast or reserved addresses are rejected in every spelling, unless the installation allows their network. Host names are not resolved here; each attempt checks the resolved address by the same rule and fails as `blocked` if it is not allowed. The url is stored, shown and requested as written: one that would be requested otherwise (`/a/../b`, a host name that is not ASCII) is rejected with the form to use. */
    url: string | null;
    /** The event types to deliver. `*` is all of them, those that a later version adds included, and stands alone when it is read. Duplicates are removed. */
    eventTypes: ("call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit" | "*")[];
    /** A label of your choice. */
    description: string | null;
    /** Your own name for the subscription, unique among those of the tenant. A script that creates it twice gets 409 `external-id-taken` instead of a second subscription, and finds the first with `GET /webhooks/subscriptions?externalId=`. */
    externalId: string | null;
    /** Which events of a type to deliver, by fields of their `data`; null: all. Each named field has to meet one of its conditions. A type without an entry passes whole. At most 16 fields and 100 values and conditions per type, and 4096 bytes as JSON. A field without a value (absent or null) only matches null and `exists: false`. An invalid filter answers 400 `invalid-filter`. Test deliveries, and events that you ask for one by one, ignore the filter. */
    filter: Record<string, Record<string, readonly FilterCondition[]>> | null;
    /** Deliveries of events that are older are not sent: before each attempt, the age counts from `occurredAt` of the event. Such a delivery ends as `expired` and is not parked. The end of a call (state 7), notices, tests, and deliveries that you send again or ask for never expire. Use it once all services are new. */
    expireAfterSeconds: number | null;
    /** While true, nothing is sent: deliveries are held, in their slot and with their body, for up to the retention time of parked deliveries. Set it to false to resume, which also ends `pausedUntil`; what was held is then sent, the longest held first. Unlike with `enabled: false`, no event is lost. */
    paused: boolean | null;
    /** Until this time the subscription is paused, like with `paused`. It then resumes automatically. A time in the past pauses nothing; the answer warns of a new one. null: not paused for a time. */
    pausedUntil: string | null;
    /** The subscription is deleted when no client has asked for its deliveries for so long, and none has a lease. Time in which the API is unavailable does not count. Only for pull subscriptions. */
    deleteAfterUnusedSeconds: number | null;
    /** While true, deliveries that the endpoint rejected (`parkedReason` `rejected`) are sent again after its next 2xx, by a recovery that starts automatically: each delivery at most once, at most one recovery every five minutes, and it ends as soon as a delivery is parked again. What was rejected before the setting stays parked. Not for pull subscriptions. */
    recoverRejected: boolean | null;
    /** How many attempts may be in progress at a time, over all workers. Deliveries beyond it are held, and sent as attempts end. Not for pull subscriptions. */
    maxInFlight: number | null;
    /** How many attempts may begin in any second, over all workers. Deliveries beyond it are held, and sent as time passes. Not for pull subscriptions. */
    maxPerSecond: number | null;
    /** Headers of your own for every POST, such as an API key. Names are case-insensitive and shown in lower case. Values are encrypted and never shown: reading shows `***` in place of each value. */
    headers: Record<string, string> | null;
    /** Only an enabled subscription receives deliveries. */
    enabled: boolean;
    /** When the subscription was created, in UTC. */
    createdAt: string;
    /** What in the settings is valid and probably not meant. */
    warnings: Schemas["SubscriptionWarning"][];
    signing: Schemas["SubscriptionSigning"];
    health: Schemas["EndpointHealth"];
    parked: Schemas["ParkedDeliveries"];
    held: Schemas["HeldDeliveries"];
    /** The clients that asked for the deliveries of a pull subscription within the last minute, the latest first. */
    receivers: Schemas["SubscriptionReceiver"][];
  };
  /** The fields to change. Omitted fields keep their value, and the fields that only the service sets are ignored. Unknown fields are rejected, because a misspelt field would change what is delivered. */
  SubscriptionChange: Schemas["SubscriptionSettings"] & {
    /** The event types to deliver. `*` is all of them, those that a later version adds included, and stands alone when it is read. Duplicates are removed. null: unchanged. */
    eventTypes?: Schemas["SubscribedType"][] | null;
    /** Only an enabled subscription receives deliveries. */
    enabled?: boolean;
    /** `post`: deliveries are sent to `url`. `pull`: clients receive them with `POST /webhooks/subscriptions/{id}/receive`. Cannot be changed. A request that sends another value answers 400. */
    mode?: "post" | "pull";
  };
  /** A new subscription: with `url`, or with `mode: pull`. The fields that only the service sets are ignored. Unknown fields are rejected, because a misspelt field would change what is delivered. */
  SubscriptionInput: Schemas["SubscriptionSettings"] & {
    /** `post`: deliveries are sent to `url`. `pull`: clients receive them with `POST /webhooks/subscriptions/{id}/receive`. Cannot be changed. Default: `"post"`. */
    mode?: "post" | "pull";
    /** The event types to deliver. `*` is all of them, those that a later version adds included, and stands alone when it is read. Duplicates are removed. */
    eventTypes: Schemas["SubscribedType"][];
    /** Only an enabled subscription receives deliveries. Events from before it is enabled are not sent later. Default: `true`. */
    enabled?: boolean;
  };
  /** A client that receives deliveries. */
  SubscriptionReceiver: {
    /** The client or person, as its token names it. */
    clientId: string;
    /** Since when it has asked without a pause of a minute, in UTC. */
    since: string;
    /** When it last asked, in UTC, to within 30 seconds. */
    lastAt: string;
  };
  /** How the deliveries are signed. The secret is not shown. */
  SubscriptionSigning: {
    /** `signed`: deliveries carry a signature. `unsigned`: the subscription was created by a version without signatures and has no secret. Call `rotate-secret` to sign its deliveries. */
    state: "signed" | "unsigned";
    /** When the current secret was created, in UTC; null if there is none. */
    since: string | null;
    /** When the last previous secret stops signing, in UTC; null if only the current secret signs. */
    previousValidUntil: string | null;
  };
  /** A subscription, the health of its endpoint, and how many of its deliveries are in which state. */
  SubscriptionSummary: {
    /** The id of the subscription. */
    subscriptionId: string;
    /** `post`: deliveries are sent to `url`. `pull`: clients receive them with `POST /webhooks/subscriptions/{id}/receive`. Cannot be changed. */
    mode: "post" | "pull";
    /** null for a pull subscription. The endpoint that receives the deliveries: an absolute http or https url (in production https only, unless configured otherwise) without credentials, fragment, whitespace, control characters or backslashes. `localhost` and private, loopback, link-local, multicast or reserved addresses are rejected in every spelling, unless the installation allows their network. Host names are not resolved here; each attempt checks the resolved address by the same rule and fails as `blocked` if it is not allowed. The url is stored, shown and requested as written: one that would be requested otherwise (`/a/../b`, a host name that is not ASCII) is rejected with the form to use. */
    url: string | null;
    /** A label of your choice. */
    description: string | null;
    /** Only an enabled subscription receives deliveries. */
    enabled: boolean;
    /** Whether it is paused now, by `paused` or `pausedUntil`. */
    paused: boolean;
    /** Deliveries whose first attempt is not finished, among the `looked` latest ones. */
    pending: number;
    /** Deliveries that wait for their next attempt, among the `looked` latest ones. */
    waiting: number;
    /** Over how many of its latest deliveries `pending` and `waiting` are counted. The count stops at deliveries that are over, unless the endpoint failed within the last day. */
    looked: number;
    /** All held deliveries, with those that a client has received. They are not among the waiting ones. */
    held: number;
    /** Since when the oldest that no client has received is due, in UTC; null if there is none. */
    oldestHeldAt: string | null;
    /** All parked deliveries. It can briefly include deliveries that are no longer parked. */
    parked: number;
    /** When the oldest of them was parked, in UTC; null if none is parked. */
    oldestParkedAt: string | null;
    /** The subscription is deleted when no client has asked for its deliveries for so long, and none has a lease. Time in which the API is unavailable does not count. Only for pull subscriptions. */
    deleteAfterUnusedSeconds: number | null;
    health: Schemas["EndpointHealth"];
  };
  /** A setting that is valid and probably not meant. */
  SubscriptionWarning: {
    /** `filter-hides-end`: the filter passes no `call.status` event of state 7, so the end of a call is never delivered. `filter-unused`: the filter has an entry for an event type that the subscription does not receive. `pause-over`: `pausedUntil` was in the past when it was set, so it pauses nothing; only the answer to that request has this warning. */
    code: "filter-hides-end" | "filter-unused" | "pause-over";
    /** The warning in a sentence. For people; the wording may change. */
    detail: string;
  };
  /** The state of each subscription. */
  Summary: Schemas["NextPage"] & {
    /** When the answer was made, in UTC. */
    asOf: string;
    /** The subscriptions of this page, the oldest first. */
    items: Schemas["SubscriptionSummary"][];
  };
  /** A test delivery that is due now. */
  TestDelivery: {
    /** The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt. */
    deliveryId: string;
    /** The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it. */
    eventId: string;
    /** The event type, sent as `X-SVC-Event`. */
    eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
  };
  /** The transfer was accepted. `call.status` events report its result. */
  TransferAccepted: Schemas["CommandAccepted"] & {
    /** Attended transfers only: the consultation call between the agent and the target. */
    consultationCallId?: string;
  };
  TransferCommand: {
    /** User URI of the agent who starts or owns the call. */
    agentUri: string;
    /** Agent URI, extension or external number to transfer to. */
    transferTarget: string;
    /** true: blind (unattended) transfer; false: attended transfer with a consultation call. Default: `false`. */
    blind?: boolean | null;
    /** Your own id for tracing, repeated from now on in the events of this call and of the consultation call. Absent or null: the correlation id of `dial` stays. Empty: as if absent. */
    correlationId?: string | null;
  };
  /** Options of a test or check. Unknown fields are ignored; the body can be `{}` or missing. */
  Trial: {
    /** The event type of the example. Defaults to the first event type of the subscription. */
    eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
  };
  /** A user status. */
  UserStatus: {
    /** The code to send. */
    code: number;
    /** The name of the status. */
    name: string;
  };
  /** The body of a delivery. `eventType` tells which `data` it has; ignore the types that you do not know. */
  WebhookDelivery: Schemas["CallStatusDelivery"] | Schemas["AgentStatusDelivery"] | Schemas["EndpointFailingDelivery"] | Schemas["EndpointRecoveredDelivery"] | Schemas["DeliveryParkedDelivery"] | Schemas["ParkedLimitDelivery"] | Schemas["HeldLimitDelivery"];
  ListSubscriptionsQuery: {
    /** The maximum number of subscriptions per page. */
    limit?: number;
    /** The `Next-Cursor` header of the previous page. Cursors do not expire. */
    cursor?: string;
    /** Only the subscription with this `externalId`, if there is one. */
    externalId?: string;
  };
  ListDeliveriesQuery: Schemas["PageQuery"] & {
    /** Only deliveries in this state; `any` for every state. */
    state?: "pending" | "waiting" | "held" | "acknowledged" | "parked" | "withdrawn" | "expired" | "any";
    /** Only deliveries from this time or later. With `state=parked`, the time of parking counts; otherwise the time of the fan-out. */
    from?: string;
    /** Only deliveries before this time. */
    to?: string;
    /** Only this event type. */
    eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** Only deliveries of this event. */
    eventId?: string;
  };
  ListTenantDeliveriesQuery: Schemas["PageQuery"] & {
    /** Only deliveries in this state; `any` for every state. */
    state?: "pending" | "waiting" | "held" | "acknowledged" | "parked" | "withdrawn" | "expired" | "any";
    /** Only deliveries from this time or later. With `state=parked`, the time of parking counts; otherwise the time of the fan-out. */
    from?: string;
    /** Only deliveries before this time. */
    to?: string;
    /** Only this event type. */
    eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** Only deliveries that were parked for this reason. */
    parkedReason?: "exhausted" | "rejected";
    /** Only deliveries whose latest attempt had this outcome. */
    outcome?: "delivered" | "answered" | "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed" | "blocked" | "unusable-url" | "lapsed" | "proxy";
    /** Only deliveries whose latest attempt was answered with this HTTP status. */
    status?: number;
    /** Only deliveries of this subscription. */
    subscriptionId?: string;
    /** Only deliveries of events of this call. */
    callId?: string;
    /** Only deliveries of events of this agent. Any spelling of the address of a provisioned agent finds the events with the address as it is provisioned now, but not those with an earlier spelling. Other addresses are compared exactly. Percent-encode special characters such as `+`. */
    agentUri?: string;
  };
  ListEventsQuery: Schemas["PageQuery"] & {
    /** Only events of this call. */
    callId?: string;
    /** Only events of this agent. Any spelling of the address of a provisioned agent finds the events with the address as it is provisioned now, but not those with an earlier spelling. Other addresses are compared exactly. Percent-encode special characters such as `+`. */
    agentUri?: string;
    /** Only events with this `correlationId`. */
    correlationId?: string;
    /** Only events of calls with this phone number of the other party. Separators, a leading `+` and leading zeros are ignored, and the beginning can be left out: `5559000` finds `+15559000`. At least one digit must not be 0. Percent-encode `+`. */
    number?: string;
    /** Only this event type. */
    eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** Only events with a `listedAt` at this time or later. */
    from?: string;
    /** Only events with a `listedAt` before this time. */
    to?: string;
  };
  ExplainEventQuery: {
    /** The maximum number of explanations per answer. */
    limit?: number;
    /** The `nextCursor` of the previous page. Send the same other parameters as for that page. */
    cursor?: string;
  };
  ListAllRecoveriesQuery: Schemas["PageQuery"];
  StreamEventsQuery: {
    /** Only events of this type, and their attempts. */
    eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit" | "webhook.held.limit";
    /** Only events of this call, and their attempts. */
    callId?: string;
    /** Only events of this agent, and their attempts. Any spelling of the address of a provisioned agent finds the events with the address as it is provisioned now, but not those with an earlier spelling. Other addresses are compared exactly. Percent-encode special characters such as `+`. */
    agentUri?: string;
    /** Only events that went to this subscription, and their attempts there. */
    subscriptionId?: string;
    /** Begin with the events that the journal has from this time on, by the time at which they were journaled. A `Last-Event-ID` comes first. */
    since?: string;
  };
  ReadSummaryQuery: Schemas["PageQuery"];
  ReadStatisticsQuery: {
    /** Only this subscription. Absent: the whole tenant. */
    subscriptionId?: string;
    /** From the minute or hour that holds this time on. By default an hour (`step=1m`) or a day (`step=1h`) before `to`. */
    from?: string;
    /** Before this time. By default now. */
    to?: string;
    /** `1m`: by minute, kept for 24 hours. `1h`: by hour, kept for 30 days. */
    step?: "1m" | "1h";
  };
  ListCallsQuery: Schemas["PageQuery"] & {
    /** `true`: only live legs, by agent. `false`: only ended ones, the last to end first. Absent: first the live ones, then the ended ones. */
    live?: boolean;
    /** Only legs of this agent. Percent-encode special characters such as `+`. */
    agentUri?: string;
  };
  ListAgentsQuery: Schemas["PageQuery"];
  ListAuditEntriesQuery: Schemas["PageQuery"] & {
    /** Only entries written at this time or later. */
    from?: string;
    /** Only entries written before this time. */
    to?: string;
    /** Only entries of this list: `webhooks` (changes and sendings) or `commands` (calls and presence). Without it, both. */
    list?: "webhooks" | "commands";
    /** Only entries with this action. */
    action?: "subscription.created" | "subscription.changed" | "subscription.deleted" | "subscription.secret-rotated" | "subscription.tested" | "subscription.checked" | "delivery.redelivered" | "event.delivered" | "recovery.started" | "backfill.started" | "recovery.cancelled" | "call.dialled" | "call.answered" | "call.hung-up" | "call.held" | "call.resumed" | "call.transferred" | "agent.presence-set";
  };
  ReadSignInQuery: {
    /** The name of your organization, in upper or lower case. */
    organization?: string;
  };
}
