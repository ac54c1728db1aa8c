import { describeEventTypes, EVENT_TYPES, type FailureCode } from '@switchhook/contracts'
import type { Schema } from '../schema.ts'

/** Undefined for the list of event types: an item has members `type` and `example`, so linters take it for a schema. */
export function answerExample(operationId: string, status: number, schema: Schema): unknown {
  if (operationId === 'listEventTypes') return undefined
  return merged(exampleOf(schema), ANSWERS[`${operationId} ${status}`])
}

const command = (name: string) => ({ command: name, correlationId: null })

/** The example of the event, in the example of the delivery. */
const envelope = {
  ...describeEventTypes().find(({ type }) => type === 'call.status')?.example,
  deliveryId: '6f9c2f0e-54c6-5a0e-9b57-6d1f0c6f5a0b',
}

const begun = { sent: 0, remaining: 1280, perSecond: 1, updatedAt: '2026-11-20T19:30:00.000Z' }

/** By operation and status: where an answer differs from the usual example of its schema. */
const ANSWERS: Readonly<Record<string, object>> = {
  'createSubscription 201': { health: { lastSuccessAt: null } },
  'changeSubscription 200': { enabled: false },
  'readDelivery 200': { envelope },
  'redeliver 202': { envelope, state: 'pending', parkedReason: null, parkedAt: null, run: 2 },
  'recover 202': begun,
  'backfill 202': { ...begun, kind: 'backfill', reason: null, eventTypes: ['call.status'] },
  'cancelRecovery 200': {
    state: 'cancelled',
    cancelledBecause: 'requested',
    perSecond: 0,
    endedAt: '2026-11-20T19:30:42.000Z',
  },
  'checkReceiver 200': {
    verdict: 'needs-work',
    findings: [
      { check: 'delivery', result: 'passed', seen: 'Status 204 after 31 ms.', advice: null },
      { check: 'speed', result: 'passed', seen: 'Status 204 after 31 ms.', advice: null },
      { check: 'duplicate', result: 'passed', seen: 'Status 204 after 30 ms.', advice: null },
      {
        check: 'forged-signature',
        result: 'failed',
        seen: 'Status 204 after 29 ms.',
        advice:
          'Anyone who knows the url can send you this. Verify webhook-signature before you trust a body, and answer 401 if it does not match.',
      },
      { check: 'stale-timestamp', result: 'passed', seen: 'Status 401 after 28 ms.', advice: null },
      { check: 'kept-connection', result: 'passed', seen: 'Each answer was that to its request.', advice: null },
    ],
  },
  'answer 202': command('answer'),
  'hangup 202': command('hangup'),
  'hold 202': command('hold'),
  'resume 202': command('resume'),
  'transfer 202': { command: 'transfer', consultationCallId: undefined },
  'setPresence 202': { statusCode: 66, statusName: 'Lunch', until: '2099-11-20T18:00:00.000Z', message: 'back at two' },
}

const INVALID_SUBSCRIPTION = 'The body is not a valid subscription.'

/** Examples of the further fields of a problem, by code. */
export const PROBLEM_DETAILS: Readonly<Partial<Record<FailureCode, object>>> = {
  'invalid-request': { errors: [{ pointer: '/limit', detail: 'must be at most 100' }] },
  'malformed-json': { detail: 'There is no body; send a JSON object, as application/json.' },
  'invalid-webhook-url': {
    detail: INVALID_SUBSCRIPTION,
    errors: [{ pointer: '/url', detail: 'must be an absolute http or https url' }],
    knownEventTypes: EVENT_TYPES,
  },
  'unknown-event-type': {
    detail: INVALID_SUBSCRIPTION,
    errors: [{ pointer: '/eventTypes', detail: 'is required' }],
    knownEventTypes: EVENT_TYPES,
  },
  'invalid-filter': {
    detail: INVALID_SUBSCRIPTION,
    errors: [{ pointer: '/filter/agent.status/status', detail: 'is not a field of agent.status' }],
    knownFields: { 'agent.status': ['agentUri', 'statusCode'] },
  },
  'missing-agent-uri': {
    detail: 'The body has no agentUri. A new access token does not help.',
    errors: [{ pointer: '/agentUri', detail: 'is required' }],
  },
  'unknown-status-code': {
    detail: 'The body is not valid',
    errors: [{ pointer: '/statusCode', detail: 'must be one of knownStatusCodes' }],
    knownStatusCodes: [{ code: 2, name: 'Available' }],
  },
  forbidden: {
    detail: 'This operation needs the role operator; your token gives the role viewer.',
    requiredRole: 'operator',
  },
  'host-not-allowed': {
    detail:
      'Requests without a token are not served under the host "other.example". Use a token, or add the host to ALLOWED_HOSTS.',
  },
  'invalid-call-state': { currentState: 7, allowedCommands: [] },
  'remote-answer-unsupported': { currentState: 2, allowedCommands: ['hangup'] },
}

/** An example for a schema, composed of the examples of its parts; undefined if they have none. */
export function exampleOf(schema: Schema): unknown {
  const { examples = [], const: only, enum: choices = [], properties, items, oneOf } = schema
  const [first] = [...(examples as unknown[]), ...(only === undefined ? (choices as unknown[]) : [only])]
  if (first !== undefined) return first
  if (properties !== undefined) {
    const members = Object.entries(properties as Readonly<Record<string, Schema>>)
      .map(([name, member]) => [name, exampleOf(member)] as const)
      .filter(([, value]) => value !== undefined)
    return Object.fromEntries(members)
  }
  if (items !== undefined) return [exampleOf(items as Schema)]
  return Array.isArray(oneOf) ? exampleOf(oneOf[0] as Schema) : undefined
}

/** Merges objects deeply; arrays are replaced, and a field that is undefined in `more` is removed. */
function merged(example: unknown, more: unknown): unknown {
  if (!isObject(example) || !isObject(more)) return more === undefined ? example : more
  const names = Object.keys({ ...example, ...more }).filter((name) => !(name in more) || more[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, merged(example[name], more[name])]))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
