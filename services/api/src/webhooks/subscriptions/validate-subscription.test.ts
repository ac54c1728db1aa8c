import { compileSchema, EVENT_TYPES } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { assert, jsonValue, property } from 'fast-check'
import { OPTIONAL_SETTINGS } from './optional-settings.ts'
import { newSubscriptionSchema, subscriptionChangeSchema, subscriptionSchema } from './subscription-schema.ts'
import {
  errorOf,
  modeFaults,
  requireMode,
  validateNewSubscription,
  validateSubscription,
} from './validate-subscription.ts'

const url = 'https://client.example/hooks'
const eventTypes = ['call.status']

/** The fields that reading shows and only the service sets; their values do not matter. */
const READ = {
  held: {},
  receivers: [],
  id: 'x',
  mode: 'post',
  createdAt: 7,
  health: null,
  signing: {},
  parked: [],
  warnings: 1,
}

const validate = (body: unknown, schema: object = newSubscriptionSchema) => {
  const result = compileSchema(schema as Record<string, unknown>)(body)
  const check = schema === newSubscriptionSchema ? validateNewSubscription : validateSubscription
  return check(body, result.ok ? [] : result.faults, {
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
  ['a filter', { url, eventTypes, filter: { 'call.status': { state: [3, 7], cli: [{ prefix: '+49' }, null] } } }],
  ['no filter', { url, eventTypes, filter: null }],
  ['a pull subscription', { mode: 'pull', eventTypes, deleteAfterUnusedSeconds: 60 }],
  ['a pull subscription exactly as read', { ...READ, mode: 'pull', url: null, eventTypes }],
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

test.each<[string, unknown, readonly string[]]>([
  ['an unknown field', { 'call.status': { stat: [3] } }, ['/filter/call.status/stat']],
  ['a text', 'state', ['/filter']],
  ['an unknown word', { 'call.status': { cli: [{ like: 'a' }] } }, ['/filter/call.status/cli/0']],
])('a filter with %s is rejected, with the known fields', (_name, filter, pointers) => {
  for (const failure of [
    validate({ url, eventTypes, filter }),
    validate({ url, eventTypes, filter, enabled: 1 }),
    validate({ filter }, subscriptionChangeSchema),
  ]) {
    expect(failure?.code).toBe('invalid-filter')
    expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(expect.arrayContaining([...pointers]))
    const known = typeof filter === 'string' ? {} : { 'call.status': expect.arrayContaining(['state']) as unknown }
    expect(failure?.extra.knownFields).toEqual(known)
  }
})

test.each(['never', 0, null])('an enabled of %j is rejected', (enabled) => {
  const failure = validate({ url, eventTypes, enabled })
  expect(failure?.code).toBe('invalid-request')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(['/enabled'])
})

test('the ignored fields are all those of a subscription that a request cannot set', () => {
  const writable = ['url', 'eventTypes', 'description', ...Object.keys(OPTIONAL_SETTINGS), 'headers', 'enabled']
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
    expect(failure?.extra.detail).toMatch(
      / Allowed fields: mode, url, eventTypes, description, externalId, .*enabled\.$/,
    )
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
  expect(failure?.extra.detail).toBe('The body is not a valid subscription.')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(['/description'])
  expect(failure?.extra).not.toHaveProperty('knownEventTypes')
})

test.each<[unknown, string | undefined]>([
  [{}, undefined],
  [{ enabled: false }, undefined],
  [{ description: null }, undefined],
  [{ enabled: 'false' }, 'invalid-request'],
  [{ expireAfterSeconds: 9 }, 'invalid-request'],
  [{ expireAfterSeconds: 86_401 }, 'invalid-request'],
  [{ expireAfterSeconds: 10.5 }, 'invalid-request'],
  [{ expireAfterSeconds: '60' }, 'invalid-request'],
  [{ url: 7 }, 'invalid-webhook-url'],
  [{ url: 'ftp://client.example' }, 'invalid-webhook-url'],
  [{ eventTypes: [] }, 'unknown-event-type'],
])('the change %j is checked by the same rules', (body, code) => {
  expect(validate(body, subscriptionChangeSchema)?.code).toBe(code)
})

test.each<[object, string[]]>([
  [{ mode: 'pull' }, []],
  [{ mode: 'pull', url: null, deleteAfterUnusedSeconds: 60 }, []],
  [{ mode: 'pull', url }, ['/url']],
  [{ mode: 'pull', recoverRejected: false }, []],
  [{ mode: 'pull', recoverRejected: true }, ['/recoverRejected']],
  [{ url, recoverRejected: true }, []],
  [{ mode: 'pull', maxInFlight: 1, maxPerSecond: 1 }, ['/maxInFlight', '/maxPerSecond']],
  [{ mode: 'pull', maxInFlight: null }, []],
  [{ mode: 'pull', url: '' }, []],
  [
    { mode: 'pull', url: false, headers: '', maxInFlight: false, maxPerSecond: '' },
    ['/url', '/headers', '/maxInFlight', '/maxPerSecond'],
  ],
  [{ url, maxInFlight: 1, maxPerSecond: 1 }, []],
  [{ url }, []],
  [{ url, deleteAfterUnusedSeconds: null }, []],
  [{ url: null }, ['/url']],
  [{ url, deleteAfterUnusedSeconds: 60 }, ['/deleteAfterUnusedSeconds']],
])('the mode of %j excludes or requires fields', (body, pointers) => {
  expect(errorOf(modeFaults(body))?.extra.errors?.map(({ pointer }) => pointer) ?? []).toEqual(pointers)
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

test.each([
  [undefined, { mode: 'pull' }, '/mode'],
  ['pull', { mode: 'post' }, '/mode'],
  ['pull', { mode: 'post', url: 'https://client.example/hooks' }, '/mode'],
  [undefined, { mode: 'post' }, undefined],
  ['pull', { mode: 'pull' }, undefined],
  ['pull', {}, undefined],
] as const)('a subscription of mode %j and the change %j: the fault is at %j', (mode, change, pointer) => {
  const required = (): void => requireMode({ mode, url: mode === 'pull' ? '' : 'https://client.example/' }, change)
  if (pointer === undefined) expect(required).not.toThrow()
  else
    expect(required).toThrow(
      expect.objectContaining({ extra: expect.objectContaining({ errors: [expect.objectContaining({ pointer })] }) }),
    )
})
