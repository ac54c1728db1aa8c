import { AppError, EVENT_TYPES, type Fault, type Subscription } from '@switchhook/contracts'
import { allowedFields } from '../../http/read-body.ts'
import type { Role } from '../../http/role.ts'
import { invalidFilter, isOfFilter, requestedFilterFaults } from './filter-schema.ts'
import { headerFaults } from './own-headers.ts'
import { newSubscriptionSchema } from './subscription-schema.ts'
import { type WebhookUrlRules, webhookUrlFault } from './webhook-url.ts'

export const INVALID_SUBSCRIPTION = ['invalid-webhook-url', 'unknown-event-type', 'invalid-filter'] as const

/**
 * Checks the body of a create or a change, by the schema and by the rules that it cannot express. The error lists every
 * fault. A faulty url decides its code, then faulty event types (specification, "Webhook subscriptions"), then the filter.
 * It lists the known event types for the first two and for a body that is no object, and the known fields for a faulty
 * filter.
 */
export function validateSubscription(
  body: unknown,
  schemaFaults: readonly Fault[],
  rules: WebhookUrlRules,
  faultsOfMode: readonly Fault[] = [],
): AppError | undefined {
  const fields: Partial<Record<'url' | 'filter' | 'headers', unknown>> = isObject(body) ? body : {}
  const { url, filter, headers } = fields
  // The rules say more than the schema.
  const errors = schemaFaults.filter(
    ({ pointer }) => !isOfFilter(pointer) && (pointer !== '/url' || typeof url !== 'string'),
  )
  const urlFault = typeof url === 'string' ? webhookUrlFault(url, rules) : undefined
  if (urlFault !== undefined) errors.push({ pointer: '/url', detail: urlFault })
  errors.push(...requestedFilterFaults(filter), ...headerFaults(headers))
  return errorOf([...errors, ...faultsOfMode], filter)
}

/** @returns undefined without a fault */
export function errorOf(errors: readonly Fault[], filter?: unknown): AppError | undefined {
  if (errors.length === 0) return undefined
  const detail = `The body is not a valid subscription.${allowedFields(newSubscriptionSchema, errors)}`
  const code = codeOf(errors)
  if (code === 'invalid-filter') return invalidFilter(detail, errors, filter)
  const listsEventTypes = code !== 'invalid-request' || errors.some(({ pointer }) => pointer === '')
  return new AppError(code, { detail, errors, ...(listsEventTypes && { knownEventTypes: EVENT_TYPES }) })
}

/** The faults of a new subscription, and those that its mode decides. */
export const validateNewSubscription = (body: unknown, schemaFaults: readonly Fault[], rules: WebhookUrlRules) =>
  validateSubscription(body, schemaFaults, rules, isObject(body) ? modeFaults(body) : [])

const isObject = (body: unknown): body is object => typeof body === 'object' && body !== null && !Array.isArray(body)

/** The fields that concern the POST of a delivery, each with the value that counts as absent, as null does. */
const ONLY_OF_POST = [
  // A stored pull subscription has this url.
  ['url', ''],
  ['headers', null],
  ['recoverRejected', false],
  ['maxInFlight', null],
  ['maxPerSecond', null],
] as const

type ByMode = Partial<Record<'mode' | 'deleteAfterUnusedSeconds' | (typeof ONLY_OF_POST)[number][0], unknown>>

/** @throws AppError if a change does not fit the mode of the subscription, or asks for the other mode */
export function requireMode({ mode, url }: Pick<Subscription, 'mode' | 'url'>, change: ByMode): void {
  const shown = mode ?? 'post'
  const isOther = change.mode !== undefined && change.mode !== shown
  const detail = `cannot be changed: the subscription was created with \`${shown}\`. Create another one for the other mode`
  const error = errorOf(isOther ? [{ pointer: '/mode', detail }] : modeFaults({ url, ...change, mode }))
  if (error !== undefined) throw error
}

/** A pull subscription that expires cannot pile up deliveries, so an operator may create one. */
export function roleForNew(body: unknown): Role {
  const { mode, deleteAfterUnusedSeconds } = body as ByMode
  return mode === 'pull' && deleteAfterUnusedSeconds != null ? 'operator' : 'admin'
}

export function modeFaults(body: ByMode): Fault[] {
  const { mode, url, deleteAfterUnusedSeconds } = body
  if (mode === 'pull') {
    const sent = ONLY_OF_POST.filter(([name, absent]) => body[name] != null && body[name] !== absent)
    return sent.map(([name]) => ({ pointer: `/${name}`, detail: 'is not allowed in pull mode' }))
  }
  return [
    ...(url == null ? [{ pointer: '/url', detail: 'is required' }] : []),
    ...(deleteAfterUnusedSeconds == null
      ? []
      : [{ pointer: '/deleteAfterUnusedSeconds', detail: 'is only for pull subscriptions' }]),
  ]
}

function codeOf(faults: readonly Fault[]) {
  if (faults.some(({ pointer }) => pointer === '/url')) return 'invalid-webhook-url'
  if (faults.some(({ pointer }) => /^\/eventTypes(\/|$)/.test(pointer))) return 'unknown-event-type'
  if (faults.some(({ pointer }) => isOfFilter(pointer))) return 'invalid-filter'
  return 'invalid-request'
}
