export {
  AgentReason,
  type AgentStatus,
  DeviceStatus,
  STATUS_NAMES,
  Status,
} from './agent.ts'
export { agentStatusSchema, statusCodeSchema } from './agent-status-schema.ts'
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
  PartyType,
  type RemoteParty,
  Role,
  type Transfer,
  TransferRole,
  TransferStatus,
} from './call.ts'
export { callStatusSchema } from './call-status-schema.ts'
export {
  type Delivery,
  type DeliveryHeaders,
  deliveryHeaders,
  deliveryHeadersSchema,
  type Postponement,
  parseDelivery,
} from './delivery.ts'
export { DELIVERY_HEADERS, REQUIRED_DELIVERY_HEADERS } from './delivery-headers.ts'
export { describeEvents } from './describe-events.ts'
export { type Envelope, envelopesOf } from './envelope.ts'
export {
  EVENT_TYPES,
  type EventType,
  type PlatformEvent,
  parseEvent,
  platformEventSchema,
  serialiseEvent,
  Unparsable,
} from './event.ts'
export {
  describeEventTypes,
  EVENT_CATALOGUE,
  type EventTypeDescription,
} from './event-catalogue.ts'
export { canonicalCallId, type EventSubject, MAX_SUBJECT_LENGTH, subjectOf } from './event-subject.ts'
export {
  AppError,
  FAILURES,
  type FailureCode,
  type FailureExtra,
  type Fate,
  isNotExecuted,
  Unavailable,
} from './failure.ts'
export { exampleDeliveryOf, firstDeliveriesOf } from './first-delivery.ts'
export {
  type CallId,
  type CommandId,
  type DeliveryId,
  deliveryIdOf,
  type EventId,
  type Guid,
  isGuid,
  newCallId,
  newCommandId,
  newEventId,
  newSubscriptionId,
  outageEventIdOf,
  parkedEventIdOf,
  parkedLimitEventIdOf,
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
  type DeliveryParked,
  type EndpointFailing,
  type EndpointRecovered,
  isNotice,
  type ParkedLimitExceeded,
  withoutQuery,
} from './notice.ts'
export { numberedSchema } from './numbered-schema.ts'
export {
  type Attempt,
  type Outcome,
  OutcomeNumber,
  PARKED_REASONS,
  type ParkedReason,
  ParkedReasonNumber,
  UNREACHABLE_REASONS,
  type UnreachableReason,
} from './outcome.ts'
export { type Problem, toProblem } from './problem.ts'
export {
  type CheckedPost,
  type CheckFacts,
  type CheckResult,
  parseReceiverCheck,
  type ReceiverCheck,
  readCheckResult,
} from './receiver-check.ts'
export {
  type FormerSecret,
  formerSecretsAt,
  formerValidUntil,
  MOST_FORMER_SECRETS,
  rotateSecret,
  type Signing,
} from './signing.ts'
export { receives, type Subscription } from './subscription.ts'
export {
  isLeaseValid,
  leaseEndsAt,
  olderLeasesEndAt,
  SUBSCRIPTION_LEASE_MARGIN_MS,
  SUBSCRIPTION_LEASE_MS,
} from './subscription-lease.ts'
export { newTraceparent, readTraceparent, traceIdOf, traceIdOfEvent } from './trace-context.ts'
export { signedAtMs, type Trial, withTrial } from './trial.ts'
export { compileSchema, type Fault, type Validation } from './validator.ts'
