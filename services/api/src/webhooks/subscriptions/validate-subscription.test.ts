import { compileSchema, EVENT_TYPES } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { assert, jsonValue, property } from 'fast-check'
import { newSubscriptionSchema, subscriptionChangeSchema, subscriptionSchema } from './subscription-schema.ts'
import { validateSubscription } from './validate-subscription.ts'

const url = 'https://client.example/hooks'
const eventTypes = ['call.status']

/** The fields that reading shows and only the service sets; their values do not matter. */
const READ = { id: 'x', createdAt: 7, health: null, signing: {}, parked: [] }

const validate = (body: unknown, schema: object = newSubscriptionSchema) => {
  const result = compileSchema(schema as Record<string, unknown>)(body)
  return validateSubscription(body, result.ok ? [] : result.faults, {
    requireHttps: false,
    guard: createAddressGuard([]),
  })
}

test.each<[string, unknown]>([
  ['the minimum', { url, eventTypes }],
  ['everything', { url, eventTypes: ['call.status', 'agent.status'], description: 'CRM' }],
  ['an explicit null description', { url, eventTypes, description: null }],
  ['an event type twice', { url, eventTypes: ['call.status', 'call.status'] }],
  ['a subscription exactly as read', { ...READ, url, eventTypes }],
  ['a disabled subscription', { url, eventTypes, enabled: false }],
])('%s is accepted', (_name, body) => {
  expect(validate(body)).toBeUndefined()
})

test.each<[string, unknown, string, string[]]>([
  ['no url', { eventTypes }, 'invalid-webhook-url', ['/url']],
  ['a url that is not a string', { url: 7, eventTypes }, 'invalid-webhook-url', ['/url']],
  ['a url that is not one', { url: 'hello', eventTypes }, 'invalid-webhook-url', ['/url']],
  [
    'a url that is too long, reported once',
    { url: `${url}/${'a'.repeat(2048)}`, eventTypes },
    'invalid-webhook-url',
    ['/url'],
  ],
  ['no event types', { url }, 'unknown-event-type', ['/eventTypes']],
  ['an empty list of event types', { url, eventTypes: [] }, 'unknown-event-type', ['/eventTypes']],
  ['event types that are not a list', { url, eventTypes: 'call.status' }, 'unknown-event-type', ['/eventTypes']],
  [
    'an unknown event type',
    { url, eventTypes: ['call.status', 'call.ended'] },
    'unknown-event-type',
    ['/eventTypes/1'],
  ],
  ['an event type that is not a string', { url, eventTypes: [null] }, 'unknown-event-type', ['/eventTypes/0']],
  ['a list', [], 'invalid-request', ['']],
  ['null', null, 'invalid-request', ['']],
  ['a string', 'hello', 'invalid-request', ['']],
  [
    'several faults together',
    { url: 'x', eventTypes: ['y'], description: 1 },
    'invalid-webhook-url',
    ['/description', '/eventTypes/0', '/url'],
  ],
])('%s is rejected, with every fault and the known event types', (_name, body, code, pointers) => {
  const failure = validate(body)
  expect(failure?.code).toBe(code)
  expect([...new Set(failure?.extra.errors?.map(({ pointer }) => pointer))].toSorted()).toEqual(pointers)
  expect(failure?.extra.knownEventTypes).toEqual(EVENT_TYPES)
})

test('an enabled that is not a boolean is rejected', () => {
  const failure = validate({ url, eventTypes, enabled: 'never' })
  expect(failure?.code).toBe('invalid-request')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(['/enabled'])
})

test('the ignored fields are all those of a subscription that a request cannot set', () => {
  const writable = ['url', 'eventTypes', 'description', 'externalId', 'enabled']
  expect([...Object.keys(READ), ...writable].toSorted()).toEqual(Object.keys(subscriptionSchema.properties).toSorted())
})

test.each<[string, string, string]>([
  ['eventType', '/eventType', 'is not a known field; did you mean "eventTypes"?'],
  ['Enabled', '/Enabled', 'is not a known field; did you mean "enabled"?'],
  ['secret', '/secret', 'is not a known field'],
  ['tenant', '/tenant', 'is not a known field'],
  ['eventTypes/0', '/eventTypes~10', 'is not a known field; did you mean "eventTypes"?'],
  ['__proto__', '/__proto__', 'is not a known field'],
])('the unknown field %s is named, and the known fields are listed', (name, pointer, detail) => {
  const unknown = JSON.parse(`{${JSON.stringify(name)}:{}}`) as object
  const created = validate(JSON.parse(JSON.stringify({ url, eventTypes }).replace('{', `{${JSON.stringify(name)}:1,`)))
  for (const failure of [created, validate(unknown, subscriptionChangeSchema)]) {
    expect(failure?.code).toBe('invalid-request')
    expect(failure?.extra.errors).toEqual([{ pointer, detail }])
    expect(failure?.extra.detail).toMatch(/ Allowed fields: url, eventTypes, description, externalId, enabled\.$/)
  }
})

test('a misspelt required field is reported as missing and as unknown', () => {
  const failure = validate({ url, eventType: eventTypes })
  expect(failure?.code).toBe('unknown-event-type')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(['/eventTypes', '/eventType'])
})

test.each([1, 'x'.repeat(1025)])('a fault of the description alone does not list the event types', (description) => {
  const failure = validate({ url, eventTypes, description })
  expect(failure?.code).toBe('invalid-request')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(['/description'])
  expect(failure?.extra).not.toHaveProperty('knownEventTypes')
})

test.each<[unknown, string | undefined]>([
  [{}, undefined],
  [{ enabled: false }, undefined],
  [{ description: null }, undefined],
  [{ enabled: 'false' }, 'invalid-request'],
  [{ url: null }, 'invalid-webhook-url'],
  [{ url: 'ftp://client.example' }, 'invalid-webhook-url'],
  [{ eventTypes: [] }, 'unknown-event-type'],
])('the change %j is checked by the same rules', (body, code) => {
  expect(validate(body, subscriptionChangeSchema)?.code).toBe(code)
})

test('any JSON gets a verdict and never throws', () => {
  assert(
    property(jsonValue(), jsonValue(), jsonValue(), (url, eventTypes, description) => {
      for (const body of [url, { url, eventTypes, description }]) {
        expect(validate(body)?.extra.errors ?? ['none']).not.toEqual([])
      }
    }),
  )
})
