import * as fc from 'fast-check'
import { EVENT_TYPES, Unparsable } from '../events/event.ts'
import { newToken, parseDeliveryId, parseEventId, parseSubscriptionId } from '../ids.ts'
import { newTraceparent } from '../trace-context.ts'
import { type Delivery, deliveryHeaders, deliveryHeadersSchema, parseDelivery } from './delivery.ts'

const anyDelivery: fc.Arbitrary<Delivery> = fc
  .record({
    deliveryId: fc.uuid().map(parseDeliveryId),
    subscriptionId: fc.uuid().map(parseSubscriptionId),
    eventId: fc.uuid().map(parseEventId),
    eventType: fc.constantFrom(...EVENT_TYPES),
    tenant: fc.option(fc.string({ minLength: 1 })),
    url: fc.webUrl(),
    run: fc.integer({ min: 1, max: 1_000 }),
    slot: fc.nat({ max: 50 }),
    attempt: fc.nat({ max: 1_000 }),
    firstDueAt: fc
      .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString()),
    traceparent: fc.option(
      fc.constant(0).map(() => newTraceparent()),
      { nil: undefined },
    ),
    signing: fc.option(
      fc.record({
        id: fc.uuid(),
        secret: fc.string(),
        since: fc.string(),
        former: fc.array(fc.record({ secret: fc.string(), until: fc.string() }), { maxLength: 4 }),
      }),
      { nil: undefined },
    ),
    token: fc.option(fc.constant(0).map(newToken), { nil: undefined }),
    postponed: fc.option(fc.nat(), { nil: undefined }),
    isAutomatic: fc.option(fc.constant(true as const), { nil: undefined }),
    isSparse: fc.option(fc.constant(true as const), { nil: undefined }),
    body: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  })
  .map(({ traceparent, signing, token, postponed, isAutomatic, isSparse, ...delivery }) => ({
    ...delivery,
    ...(token !== undefined && { token }),
    ...(traceparent !== undefined && { traceparent }),
    ...(signing !== undefined && { signing }),
    ...(postponed !== undefined && { postponed }),
    ...(isAutomatic !== undefined && { isAutomatic }),
    ...(isSparse !== undefined && { isSparse }),
  }))

const [example] = fc.sample(anyDelivery, { numRuns: 1, seed: 1 }) as [Delivery]
const headers = (over: object = {}): object => ({ ...deliveryHeaders(example), ...over })

test('a delivery survives serialisation to headers and content unchanged', () => {
  fc.assert(
    fc.property(anyDelivery, (delivery) => {
      expect(parseDelivery(delivery.body, deliveryHeaders(delivery))).toEqual(delivery)
    }),
  )
})

test.each<[string, unknown]>([
  ['absent', undefined],
  ['malformed', '00-1'],
  ['not a string', { n: 1 }],
])('a trace context that is %s is ignored, and the delivery is kept', (_what, traceparent) => {
  const { traceparent: _, ...without } = example
  expect(parseDelivery(example.body, headers({ traceparent }))).toEqual(without)
})

test('a message without signing data is read as unsigned', () => {
  const { 'sh-signing': _, ...before } = deliveryHeaders(example)
  expect(parseDelivery(example.body, before)).not.toHaveProperty('signing')
})

test.each([{}, 'whsec_1', { id: example.deliveryId, secret: 1, since: '', former: [] }])(
  'unreadable signing data, %j, is rejected, so that the delivery is not sent unsigned',
  (signing) => {
    expect(() => parseDelivery(example.body, headers({ 'sh-signing': signing }))).toThrow(Unparsable)
  },
)

test('the body is the content itself, neither copied nor decoded', () => {
  const body = Buffer.from([0xff, 0x00, 0x0a])
  expect(parseDelivery(body, headers()).body).toBe(body)
})

test('a delivery of the installation itself has no tenant header, because not every client reads null in AMQP tables', () => {
  const own = deliveryHeaders({ ...example, tenant: null })
  expect(Object.keys(own)).not.toContain('sh-tenant')
  expect(parseDelivery(example.body, own).tenant).toBeNull()
})

test('headers of the broker and of newer versions are ignored and not copied', () => {
  const parsed = parseDelivery(
    example.body,
    headers({ 'x-death': [{ count: 3 }], 'x-delivery-count': 2, 'sh-new': 'x' }),
  )
  expect(parsed).toEqual(example)
  expect(deliveryHeaders(parsed)).toEqual(deliveryHeaders(example))
})

test.each<[string, object, string]>([
  ['a version that is not known yet', { 'sh-version': 3 }, '/sh-version must be at most 2'],
  ['no version', { 'sh-version': undefined }, '/sh-version is required'],
  [
    'a delivery id that is not a GUID',
    { 'sh-delivery-id': 'x' },
    '/sh-delivery-id must be a GUID, such as 4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11',
  ],
  [
    'an event type that cannot be a header value',
    { 'sh-event-type': 'a\nb' },
    String.raw`/sh-event-type must match pattern "^[\x21-\x7e]{1,128}$"`,
  ],
  ['run 0', { 'sh-run': 0 }, '/sh-run must be at least 1'],
  ['a slot before the first', { 'sh-slot': -1 }, '/sh-slot must be at least 0'],
  ['half a slot', { 'sh-slot': 0.5 }, '/sh-slot must be an integer'],
  ['a number as text', { 'sh-attempt': '1' }, '/sh-attempt must be an integer'],
  ['no url', { 'sh-url': undefined }, '/sh-url is required'],
])('%s cannot be parsed', (_what, fault, expected) => {
  expect(() => parseDelivery(example.body, headers(fault))).toThrow(new Unparsable(expected))
})

test.each([undefined, null, 'text', []])('a message without headers (%j) is rejected', (value) => {
  expect(() => parseDelivery(example.body, value)).toThrow(Unparsable)
})

test('all faults are reported together, and no value is quoted', () => {
  const parse = () =>
    parseDelivery(example.body, headers({ 'sh-url': 7, 'sh-run': 'secret', 'sh-event-type': 'sec ret' }))
  expect(parse).toThrow(/(?=.*\/sh-url)(?=.*\/sh-run)(?=.*\/sh-event-type)/)
  expect(parse).not.toThrow(/secret/)
})

test('a message of a newer fan-out is accepted during a rolling upgrade: the next version and unknown event types', () => {
  const newer = headers({ 'sh-version': 2, 'sh-event-type': 'webhook.endpoint.failing', 'sh-later': 1 })
  expect(parseDelivery(example.body, newer).eventType).toBe('webhook.endpoint.failing')
})

test('the kind of trial is kept; an unknown kind of a later version is delivered as an ordinary event', () => {
  const trial = { ...example, trial: 'test' as const }
  expect(parseDelivery(example.body, deliveryHeaders(trial))).toEqual(trial)
  expect(parseDelivery(example.body, headers({ 'sh-trial': 'later' }))).toEqual(example)
})

test('the schema of the headers changes only on purpose: messages can be hours old', () => {
  expect(deliveryHeadersSchema).toMatchInlineSnapshot(`
{
  "properties": {
    "sh-attempt": {
      "minimum": 0,
      "type": "integer",
    },
    "sh-automatic": {},
    "sh-delivery-id": {
      "format": "uuid",
      "type": "string",
    },
    "sh-event-id": {
      "format": "uuid",
      "type": "string",
    },
    "sh-event-type": {
      "pattern": "^[\\x21-\\x7e]{1,128}$",
      "type": "string",
    },
    "sh-first-due-at": {
      "type": "string",
    },
    "sh-headers": {
      "additionalProperties": {
        "type": "string",
      },
      "type": "object",
    },
    "sh-installation": {
      "format": "uuid",
      "type": "string",
    },
    "sh-postponed": {
      "minimum": 0,
      "type": "integer",
    },
    "sh-requested": {},
    "sh-run": {
      "minimum": 1,
      "type": "integer",
    },
    "sh-signing": {
      "properties": {
        "former": {
          "items": {
            "properties": {
              "secret": {
                "type": "string",
              },
              "until": {
                "type": "string",
              },
            },
            "required": [
              "secret",
              "until",
            ],
            "type": "object",
          },
          "type": "array",
        },
        "id": {
          "format": "uuid",
          "type": "string",
        },
        "secret": {
          "type": "string",
        },
        "since": {
          "type": "string",
        },
      },
      "required": [
        "id",
        "secret",
        "since",
        "former",
      ],
      "type": "object",
    },
    "sh-slot": {
      "minimum": 0,
      "type": "integer",
    },
    "sh-sparse": {},
    "sh-subscription-id": {
      "format": "uuid",
      "type": "string",
    },
    "sh-tenant": {
      "type": "string",
    },
    "sh-token": {
      "pattern": "^[\\w-]{1,16}$",
      "type": "string",
    },
    "sh-trial": {},
    "sh-url": {
      "type": "string",
    },
    "sh-version": {
      "maximum": 2,
      "minimum": 1,
      "type": "integer",
    },
    "traceparent": {},
  },
  "required": [
    "sh-version",
    "sh-delivery-id",
    "sh-subscription-id",
    "sh-event-id",
    "sh-event-type",
    "sh-url",
    "sh-run",
    "sh-slot",
    "sh-attempt",
    "sh-first-due-at",
  ],
  "type": "object",
}
`)
})
