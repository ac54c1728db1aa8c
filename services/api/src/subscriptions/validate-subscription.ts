import { AppError, EVENT_TYPES, type FailureCode, type Fault } from '@switchhook/contracts'
import { type WebhookUrlRules, webhookUrlFault } from './webhook-url.ts'

/**
 * Judges the body of a create or a change: what its schema found, and what a schema cannot say of a url. Every fault is
 * listed; the code is that of the url if it has one, else of the event types. The known event types come along with a fault of
 * either, as the specification says, and with a body that is nothing at all.
 */
export function judgeSubscription(
  body: unknown,
  schemaFaults: readonly Fault[],
  rules: WebhookUrlRules,
): AppError | undefined {
  const errors = [...schemaFaults, ...urlFaults(body, schemaFaults, rules)]
  if (errors.length === 0) return undefined
  const detail = 'The body is not a valid subscription'
  const code = codeOf(errors)
  const isOfUse = code !== 'invalid-request' || errors.some(({ pointer }) => pointer === '')
  return new AppError(code, { detail, errors, ...(isOfUse && { knownEventTypes: EVENT_TYPES }) })
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
