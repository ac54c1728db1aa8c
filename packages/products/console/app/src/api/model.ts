import type { Schemas } from '@switchhook/client'

/** The resources of the API, by the names that the console uses. */

export type Subscription = Schemas['Subscription']
export type CreatedSubscription = Schemas['CreatedSubscription']
export type Health = Schemas['EndpointHealth']
export type EventType = Exclude<Schemas['SubscribedType'], '*'>
export type SubscribedType = Schemas['SubscribedType']
export type Attempt = Schemas['Attempt']
export type Delivery = Schemas['Delivery']
export type DeliverySummary = Schemas['DeliverySummary']
export type ListedEvent = Schemas['ListedEvent']
export type ExplainedEvent = Schemas['ExplainedEvent']
export type Explanation = Schemas['Explanation']
export type Recovery = Schemas['Recovery']
export type RecoveryCount = Schemas['RecoveryCount']
export type RecoveryInput = Schemas['RecoveryInput']
export type ReceiverReport = Schemas['ReceiverReport']
export type RotatedSecret = Schemas['RotatedSecret']
export type AuditEntry = Schemas['AuditEntry']
export type SubscriptionFilter = NonNullable<Subscription['filter']>
export type FilterPreview = Schemas['FilterPreview']
export type Me = Schemas['Me']
export type Role = Me['roles'][number]
export type SummaryItem = Schemas['SubscriptionSummary']
export type ParkedGroup = Schemas['ParkedCause']
export type Statistics = Schemas['Statistics']
export type StatisticsPoint = Schemas['StatisticsPoint']
export type Percentiles = Schemas['Percentiles']
export type Agent = Schemas['AgentWithCalls']
export type Leg = Schemas['CallLeg']
/** A command for a leg. `dial` makes a new one. */
export type CallCommand = Exclude<Leg['allowedCommands'][number], 'dial'>
