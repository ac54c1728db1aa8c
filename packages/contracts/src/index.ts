export {
  type Delivery,
  type DeliveryHeaders,
  deliveryHeaders,
  deliveryHeadersSchema,
  parseDelivery,
} from './deliveries/delivery.ts'
export { DELIVERY_HEADERS, REQUIRED_DELIVERY_HEADERS } from './deliveries/delivery-headers.ts'
export { isExpired, occurredAtMsOf } from './deliveries/expiry.ts'
export { exampleDeliveryOf, firstDeliveriesOf } from './deliveries/first-delivery.ts'
export {
  type Attempt,
  CONNECTION_REASONS,
  isTransientStatus,
  type Outcome,
  OutcomeNumber,
  PARKED_REASONS,
  type ParkedReason,
  ParkedReasonNumber,
  UNREACHABLE_REASONS,
  type UnreachableReason,
} from './deliveries/outcome.ts'
export { type OutcomeBatch, parseOutcomeBatch, type ReportedOutcome } from './deliveries/outcome-batch.ts'
export {
  type CheckedPost,
  type CheckFacts,
  type CheckResult,
  parseReceiverCheck,
  type ReceiverCheck,
  readCheckResult,
} from './deliveries/receiver-check.ts'
export { DEFAULT_RETRY_WAITS, DEFAULT_SCHEDULE } from './deliveries/retry-schedule.ts'
export { signedAtMs, type Trial, withTrial } from './deliveries/trial.ts'
export { wantsFirstAttempt } from './deliveries/wants-first-attempt.ts'
export {
  AppError,
  FAILURES,
  type FailureCode,
  type FailureExtra,
  type Fate,
  isNotExecuted,
  Unavailable,
} from './errors/failure.ts'
export { PROBLEMS_PAGE, type Problem, toProblem } from './errors/problem.ts'
export { compileSchema, type Fault, settableNames, type Validation } from './errors/validator.ts'
export {
  AgentReason,
  type AgentStatus,
  DeviceStatus,
  STATUS_NAMES,
  Status,
} from './events/agent.ts'
export { agentStatusSchema, statusCodeSchema } from './events/agent-status-schema.ts'
export {
  CALL_COMMANDS,
  type CallCommand,
  CallState,
  type CallStatus,
  CommandNumber,
  type CommandResult,
  type Consultation,
  Direction,
  EndedBy,
  EndReason,
  LegRole,
  PartyType,
  type RemoteParty,
  type Transfer,
  TransferRole,
  TransferStatus,
} from './events/call.ts'
export { callStatusSchema } from './events/call-status-schema.ts'
export { describeEvents } from './events/describe-events.ts'
export { type Envelope, envelopesOf, envelopesWith } from './events/envelope.ts'
export {
  EVENT_TYPES,
  type EventType,
  eventText,
  type PlatformEvent,
  parseEvent,
  platformEventSchema,
  serialiseEvent,
  Unparsable,
} from './events/event.ts'
export {
  describeEventTypes,
  EVENT_CATALOGUE,
  type EventTypeDescription,
} from './events/event-catalogue.ts'
export {
  canonicalCallId,
  type EventSubject,
  MAX_SUBJECT_LENGTH,
  numberEnding,
  subjectOf,
} from './events/event-subject.ts'
export {
  type DeliveryParked,
  type EndpointFailing,
  type EndpointRecovered,
  type HeldLimitNear,
  isNotice,
  type ParkedLimitExceeded,
  withoutQuery,
} from './events/notice.ts'
export { numberedSchema } from './events/numbered-schema.ts'
export { occurredAfter } from './events/occurred-at.ts'
export { type StatusNames, statusNamesSchema } from './events/status-names.ts'
export {
  type CallId,
  type CommandId,
  type DeliveryId,
  deliveryIdOf,
  type EventId,
  type Guid,
  isGuid,
  limitEventIdOf,
  newCallId,
  newCommandId,
  newEventId,
  newSubscriptionId,
  newToken,
  outageEventIdOf,
  parkedEventIdOf,
  parseCallId,
  parseCommandId,
  parseDeliveryId,
  parseEventId,
  parseRecoveryId,
  parseSubscriptionId,
  type RecoveryId,
  type SubscriptionId,
  uuidV5,
} from './ids.ts'
export { INSTALLATION_HEADER, type InstallationId, readInstallation } from './installation.ts'
export {
  compileFilter,
  type EventData,
  type FieldTest,
  type FilterCondition,
  type FilterFields,
  fieldValue,
  filteredFields,
  filterRefusal,
  hidesEndOfCalls,
  leavesGaps,
  NUMERIC_OPERATORS,
  passesFilter,
  type SubscriptionFilter,
} from './subscriptions/filter/filter.ts'
export {
  filterFaults,
  filterFieldsOf,
  MAX_FILTER_CONDITIONS,
  MAX_FILTER_FIELDS,
  MAX_FILTER_TEXT_LENGTH,
} from './subscriptions/filter/validate-filter.ts'
export {
  type FormerSecret,
  formerSecretsAt,
  formerValidUntil,
  MAX_FORMER_SECRETS,
  rotateSecret,
  type Signing,
} from './subscriptions/signing.ts'
export {
  ALL_TYPES,
  hasLimits,
  holdsDeliveries,
  isPaused,
  receives,
  type SubscribedType,
  type Subscription,
} from './subscriptions/subscription.ts'
export {
  isLeaseValid,
  leaseEndsAt,
  olderLeasesEndAt,
  SUBSCRIPTION_LEASE_MARGIN_MS,
  SUBSCRIPTION_LEASE_MS,
} from './subscriptions/subscription-lease.ts'
export type { Tenant } from './tenant.ts'
export { newTraceparent, readTraceparent, traceIdOf, traceIdOfEvent } from './trace-context.ts'
