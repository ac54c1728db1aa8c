import { AppError, EVENT_TYPES, type FailureCode, type Fault } from '@switchhook/contracts'
import { type WebhookUrlRules, webhookUrlFault } from './webhook-url.ts'

/**
 * Checks the body of a create or a change: the schema's faults, and the url rules that a schema cannot express. The error
 * lists every fault. A faulty url decides its code, then faulty event types (specification, "Webhook subscriptions"). The
 * error lists the known event types for both, and for a body that is not an object.
 */
export function validateSubscription(
  body: unknown,
  schemaFaults: readonly Fault[],
  rules: WebhookUrlRules,
): AppError | undefined {
  const errors = [...schemaFaults, ...urlFaults(body, schemaFaults, rules)]
  if (errors.length === 0) return undefined
  const detail = 'The body is not a valid subscription.'
  const code = codeOf(errors)
  const listsEventTypes = code !== 'invalid-request' || errors.some(({ pointer }) => pointer === '')
  return new AppError(code, { detail, errors, ...(listsEventTypes && { knownEventTypes: EVENT_TYPES }) })
}

function urlFaults(body: unknown, schemaFaults: readonly Fault[], rules: WebhookUrlRules): Fault[] {
  const { url } = (body ?? {}) as { readonly url?: unknown }
  if (typeof url !== 'string' || schemaFaults.some(({ pointer }) => pointer === '/url')) return []
  const detail = webhookUrlFault(url, rules)
  return detail === undefined ? [] : [{ pointer: '/url', detail }]
}

function codeOf(faults: readonly Fault[]): FailureCode {
  if (faults.some(({ pointer }) => pointer === '/url')) return 'invalid-webhook-url'
  if (faults.some(({ pointer }) => pointer.startsWith('/eventTypes'))) return 'unknown-event-type'
  return 'invalid-request'
}
