export * from './deliveries/delivery.ts'
export * from './deliveries/delivery-state.ts'
export * from './deliveries/is-sent.ts'
export * from './deliveries/outcome-batch.ts'
export * from './deliveries/receiver-check.ts'
export * from './deliveries/retry-schedule.ts'
export { signedAtMs, type Trial, withTrial } from './deliveries/trial.ts'
export * from './description/delivery-headers.ts'
export * from './description/describe-events.ts'
export * from './errors/failure.ts'
export * from './errors/unavailable.ts'
export {
  compileSchema,
  escapeToken,
  type Fault,
  objectSchema,
  settableNames,
  UNKNOWN_FIELD,
  type Validation,
} from './errors/validator.ts'
export * from './events/agent.ts'
export * from './events/agent-status-schema.ts'
export * from './events/call.ts'
export * from './events/call-status-schema.ts'
export {
  type Envelope,
  EVENT_TYPES,
  type EventType,
  envelopesOf,
  isNotice,
  occurredAfter,
  type PlatformEvent,
  parseEvent,
  parseExactly,
  platformEventSchema,
  serialiseEvent,
  Unparsable,
  withoutHalfPairs,
} from './events/event.ts'
export { describeEventTypes, EVENT_CATALOGUE } from './events/event-catalogue.ts'
export * from './events/event-subject.ts'
export { type NoticeData, withoutQuery } from './events/notice-schemas.ts'
export * from './events/outcome.ts'
export { type FieldsOf, type GuidOf, numberedSchema, type ValueOf } from './events/schema-parts.ts'
export * from './ids.ts'
export * from './installation.ts'
export * from './subscriptions/filter/explain-filter.ts'
export * from './subscriptions/filter/filter.ts'
export * from './subscriptions/filter/validate-filter.ts'
export * from './subscriptions/signing.ts'
export * from './subscriptions/subscription.ts'
export * from './subscriptions/subscription-lease.ts'
export * from './trace-context.ts'
