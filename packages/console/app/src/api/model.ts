import type { components } from './schema.d.ts'

/** The resources of the API, by the names that the console uses. */
type Schemas = components['schemas']

export type Subscription = Schemas['Subscription']
export type CreatedSubscription = Schemas['CreatedSubscription']
export type NewSubscription = Schemas['NewSubscription']
export type SubscriptionChange = Schemas['SubscriptionChange']
export type Health = Schemas['EndpointHealth']
export type EventType = Schemas['EventType']
export type EventTypeDescription = Schemas['EventTypeDescription']
export type Attempt = Schemas['Attempt']
export type Delivery = Schemas['Delivery']
export type DeliverySummary = Schemas['DeliverySummary']
export type ListedEvent = Schemas['ListedEvent']
export type ExplainedEvent = Schemas['ExplainedEvent'] & { readonly data?: Readonly<Record<string, unknown>> | null }
export type Explanation = Schemas['Explanation']
export type Recovery = Schemas['Recovery'] & { readonly kind?: string }
export type RecoveryCount = Schemas['RecoveryCount']
export type NewRecovery = Schemas['NewRecovery']
export type ReceiverReport = Schemas['ReceiverReport']
export type RotatedSecret = Schemas['RotatedSecret']
export type TestDelivery = Schemas['TestDelivery']
export type AuditEntry = Schemas['AuditEntry']
export type AgentState = Schemas['AgentState']
export type CallStatus = Schemas['CallStatus']
export type Problem = Schemas['Problem']

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

export type Role = 'viewer' | 'operator' | 'admin'

export interface Me {
  readonly tenant: string | null
  readonly subject: string | null
  readonly roles: readonly Role[]
  readonly features: Readonly<Record<'journal' | 'simulator' | 'statistics' | 'console', boolean>>
}

export interface SummaryItem {
  readonly subscriptionId: string
  readonly url: string
  readonly description: string | null
  readonly enabled: boolean
  readonly pending: number
  readonly waiting: number
  readonly parked: number
  readonly oldestParkedAt: string | null
  readonly health: Health
}

export interface Summary {
  readonly asOf: string
  readonly items: readonly SummaryItem[]
}

export interface ParkedGroup {
  readonly subscriptionId: string
  readonly url: string
  readonly parkedReason: 'exhausted' | 'rejected'
  readonly outcome: Attempt['outcome'] | null
  readonly status: number | null
  readonly count: number
  readonly since: string
  readonly latest: string
}

export interface ParkedGroups {
  readonly asOf: string
  readonly items: readonly ParkedGroup[]
}

export interface Policy {
  readonly deliveryTimeoutMs: number
  readonly retryWaitsMs: readonly number[]
  readonly breaker: { readonly failures: number; readonly cooldownMs: number }
}

export interface Percentiles {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export interface StatisticsPoint {
  readonly at: string
  readonly attempts: number
  readonly acknowledged: number
  readonly byOutcome: Readonly<Record<string, number>>
  readonly parked: number
  readonly answerMs: Percentiles
  readonly delayMs: Percentiles
}

export interface Statistics {
  readonly step: '1m' | '1h'
  readonly points: readonly StatisticsPoint[]
}

export type CallCommand = 'answer' | 'hangup' | 'hold' | 'resume' | 'transfer'

export type Leg = CallStatus & { readonly allowedCommands: readonly CallCommand[] }
export type Agent = AgentState & { readonly calls: readonly Leg[] }

/** Messages of the live stream. */
export interface StreamEvent {
  readonly eventId: string
  readonly eventType: EventType
  readonly occurredAt: string
  readonly data: Readonly<Record<string, unknown>>
  readonly subscriptions: number | readonly string[]
}

export interface StreamAttempt {
  readonly deliveryId: string
  readonly subscriptionId: string
  readonly eventId: string
  readonly eventType: EventType
  readonly attempt: number
  readonly at: string
  readonly outcome: Attempt['outcome']
  readonly status: number | null
  readonly durationMs: number
  readonly state: DeliverySummary['state']
}
