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
export type ExplainedEvent = Schemas['ExplainedEvent']
export type Explanation = Schemas['Explanation']
export type Recovery = Schemas['Recovery']
export type RecoveryCount = Schemas['RecoveryCount']
export type NewRecovery = Omit<Schemas['NewRecovery'], 'dryRun'>
export type NewBackfill = Omit<Schemas['NewBackfill'], 'dryRun'>
export type ReceiverReport = Schemas['ReceiverReport']
export type RotatedSecret = Schemas['RotatedSecret']
export type TestDelivery = Schemas['TestDelivery']
export type AuditEntry = Schemas['AuditEntry']
export type Problem = Schemas['Problem']
export type Me = Schemas['Me']
export type Role = Me['roles'][number]
export type Summary = Schemas['Summary']
export type SummaryItem = Schemas['SubscriptionSummary']
export type ParkedGroups = Schemas['ParkedCauses']
export type ParkedGroup = Schemas['ParkedCause']
export type Policy = Schemas['DeliveryPolicy']
export type Statistics = Schemas['Statistics']
export type StatisticsPoint = Schemas['StatisticsPoint']
export type Percentiles = Schemas['Percentiles']
export type Agent = Schemas['AgentWithCalls']
export type Leg = Schemas['CallLeg']
/** A command for a leg. `dial` makes a new one. */
export type CallCommand = Exclude<Leg['allowedCommands'][number], 'dial'>

/** A page of a list. It can be empty and still have a next page. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

/** An `event` of the live stream. */
export interface StreamEvent {
  readonly eventId: string
  readonly eventType: EventType
  readonly occurredAt: string
  /** Null if it is too large for the stream. */
  readonly data: Readonly<Record<string, unknown>> | null
}

/** An `attempt` of the live stream. */
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
