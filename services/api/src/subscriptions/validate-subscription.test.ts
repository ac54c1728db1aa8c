import { compileSchema, EVENT_TYPES } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { assert, jsonValue, property } from 'fast-check'
import { newSubscriptionSchema, subscriptionChangeSchema } from './subscription-schema.ts'
import { judgeSubscription } from './validate-subscription.ts'

const url = 'https://client.example/hooks'
const eventTypes = ['call.status']

const judge = (body: unknown, schema: object = newSubscriptionSchema) => {
  const result = compileSchema(schema as Record<string, unknown>)(body)
  return judgeSubscription(body, result.ok ? [] : result.faults, { requireHttps: false, guard: createAddressGuard([]) })
}

test.each<[string, unknown]>([
  ['the least', { url, eventTypes }],
  ['everything', { url, eventTypes: ['call.status', 'agent.status'], description: 'CRM' }],
  ['no description, in so many words', { url, eventTypes, description: null }],
  ['an event type twice', { url, eventTypes: ['call.status', 'call.status'] }],
  ['members that nobody knows', { url, eventTypes, secret: 1 }],
  ['one that is not enabled yet', { url, eventTypes, enabled: false }],
  ['a member by a treacherous name', JSON.parse(`{"url":"${url}","eventTypes":["call.status"],"__proto__":{"url":7}}`)],
])('%s is a subscription', (_name, body) => {
  expect(judge(body)).toBeUndefined()
})

test.each<[string, unknown, string, string[]]>([
  ['no url', { eventTypes }, 'invalid-webhook-url', ['/url']],
  ['a url that is not a text', { url: 7, eventTypes }, 'invalid-webhook-url', ['/url']],
  ['a url that is none', { url: 'hello', eventTypes }, 'invalid-webhook-url', ['/url']],
  [
    'a url that is too long, told once',
    { url: `${url}/${'a'.repeat(2048)}`, eventTypes },
    'invalid-webhook-url',
    ['/url'],
  ],
  ['no event types', { url }, 'unknown-event-type', ['/eventTypes']],
  ['an empty list of event types', { url, eventTypes: [] }, 'unknown-event-type', ['/eventTypes']],
  ['event types that are no list', { url, eventTypes: 'call.status' }, 'unknown-event-type', ['/eventTypes']],
  [
    'an unknown event type',
    { url, eventTypes: ['call.status', 'call.ended'] },
    'unknown-event-type',
    ['/eventTypes/1'],
  ],
  ['an event type that is no text', { url, eventTypes: [null] }, 'unknown-event-type', ['/eventTypes/0']],
  ['a list', [], 'invalid-request', ['']],
  ['null', null, 'invalid-request', ['']],
  ['a text', 'hello', 'invalid-request', ['']],
  [
    'all at once',
    { url: 'x', eventTypes: ['y'], description: 1 },
    'invalid-webhook-url',
    ['/description', '/eventTypes/0', '/url'],
  ],
])('%s is refused, with every fault and the known event types', (_name, body, code, pointers) => {
  const failure = judge(body)
  expect(failure?.code).toBe(code)
  expect([...new Set(failure?.extra.errors?.map(({ pointer }) => pointer))].toSorted()).toEqual(pointers)
  expect(failure?.extra.knownEventTypes).toEqual(EVENT_TYPES)
})

test('an enabled that is no boolean is refused', () => {
  const failure = judge({ url, eventTypes, enabled: 'never' })
  expect(failure?.code).toBe('invalid-request')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(['/enabled'])
})

test.each([1, 'x'.repeat(1025)])(
  'a fault of the description alone has nothing to do with event types',
  (description) => {
    const failure = judge({ url, eventTypes, description })
    expect(failure?.code).toBe('invalid-request')
    expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(['/description'])
    expect(failure?.extra).not.toHaveProperty('knownEventTypes')
  },
)

test.each<[unknown, string | undefined]>([
  [{}, undefined],
  [{ enabled: false }, undefined],
  [{ description: null }, undefined],
  [{ enabled: 'false' }, 'invalid-request'],
  [{ url: null }, 'invalid-webhook-url'],
  [{ url: 'ftp://client.example' }, 'invalid-webhook-url'],
  [{ eventTypes: [] }, 'unknown-event-type'],
])('the change %j is judged by the same rules', (body, code) => {
  expect(judge(body, subscriptionChangeSchema)?.code).toBe(code)
})

test('whatever JSON comes, it is judged and never fails otherwise', () => {
  assert(
    property(jsonValue(), jsonValue(), jsonValue(), (url, eventTypes, description) => {
      for (const body of [url, { url, eventTypes, description }]) {
        expect(judge(body)?.extra.errors ?? ['none']).not.toEqual([])
      }
    }),
  )
})
