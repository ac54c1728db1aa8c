import * as fc from 'fast-check'
import { newEventId, parseDeliveryId, parseEventId } from '../ids.ts'
import {
  EVENT_TYPES,
  envelopesOf,
  type PlatformEvent,
  parseEvent,
  platformEventSchema,
  serialiseEvent,
  Unparsable,
} from './event.ts'

const event = (over: object = {}): Record<string, unknown> => ({
  eventId: '2ed6657d-e927-568b-95e1-2665a8aea6a2',
  eventType: 'call.status',
  occurredAt: '2026-11-20T12:00:00.000Z',
  tenant: 'acme',
  data: { state: 1 },
  ...over,
})
const parse = (value: unknown): PlatformEvent => parseEvent(Buffer.from(JSON.stringify(value)))

function problem(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (error instanceof Unparsable) return error.message
    throw error
  }
  return 'nothing was thrown'
}

const anyEvent = fc.record({
  eventId: fc.uuid().map(parseEventId),
  eventType: fc.constantFrom(...EVENT_TYPES),
  occurredAt: fc
    .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  tenant: fc.option(fc.string({ minLength: 1, maxLength: 128 })),
  data: fc.dictionary(fc.string(), fc.jsonValue()),
})

test('a serialised event is parsed back unchanged', () => {
  fc.assert(
    fc.property(anyEvent, (original) => {
      expect(JSON.stringify(parseEvent(serialiseEvent(original)))).toBe(JSON.stringify(original))
    }),
  )
})

test('a serialised event has its five fields in this order', () => {
  const { eventId, ...rest } = parse(event())
  expect(serialiseEvent({ ...rest, eventId, extra: true } as PlatformEvent).toString()).toBe(JSON.stringify(event()))
})

test('unknown fields are ignored, so that a publisher can be newer', () => {
  expect(parse(event({ newMember: 1 }))).toMatchObject(event())
})

test('an id in upper case is converted to lower case, so that it creates the same deliveries', () => {
  const eventId = newEventId()
  expect(parse(event({ eventId: eventId.toUpperCase() })).eventId).toBe(eventId)
})

test.each<[string, object, string]>([
  [
    'an id that is not a GUID',
    { eventId: '42' },
    '/eventId must be a GUID, such as 4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11',
  ],
  [
    'a GUID written as a URN',
    { eventId: 'urn:uuid:2ed6657d-e927-568b-95e1-2665a8aea6a2' },
    '/eventId must be a GUID, such as 4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11',
  ],
  [
    'an unknown type',
    { eventType: 'call.started' },
    '/eventType must be one of call.status, agent.status, webhook.endpoint.failing, webhook.endpoint.recovered, webhook.delivery.parked, webhook.parked.limit, webhook.held.limit',
  ],
  [
    'a time that is not UTC',
    { occurredAt: '2026-11-20T12:00:00+01:00' },
    '/occurredAt must match pattern "^[^\\sT]+T[^\\sZ]+Z$"',
  ],
  [
    'a time with a blank',
    { occurredAt: '2026-11-20 12:00:00Z' },
    '/occurredAt must match pattern "^[^\\sT]+T[^\\sZ]+Z$"; /occurredAt must be an RFC 3339 time, such as 2026-11-20T17:06:01Z',
  ],
  [
    'a day that does not exist',
    { occurredAt: '2026-02-30T12:00:00Z' },
    '/occurredAt must be an RFC 3339 time, such as 2026-11-20T17:06:01Z',
  ],
  ['no time at all', { occurredAt: undefined }, '/occurredAt is required'],
  ['no tenant at all, which must be null to mean none', { tenant: undefined }, '/tenant is required'],
  ['an empty tenant', { tenant: '' }, '/tenant must not be empty'],
  ['a tenant that is too long', { tenant: 'x'.repeat(129) }, '/tenant must have at most 128 characters'],
  ['a list as data', { data: [] }, '/data must be an object'],
  ['data that is null', { data: null }, '/data must be an object'],
])('%s cannot be parsed', (_what, fault, expected) => expect(problem(() => parse(event(fault)))).toBe(expected))

test('all faults are reported together, and no value is quoted', () => {
  const message = problem(() =>
    parse({ eventId: 'secret-1', eventType: 'secret-2', occurredAt: 'secret-3', tenant: 7 }),
  )
  for (const pointer of ['/eventId', '/eventType', '/occurredAt', '/tenant', '/data'])
    expect(message).toContain(pointer)
  expect(message).not.toContain('secret')
})

test.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['half of a document', Buffer.from('{"eventId":')],
  ['broken UTF-8', Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])],
])('%s is not JSON', (_what, content) => expect(problem(() => parseEvent(content))).toBe('not JSON in UTF-8'))

test.each([null, 5, 'text', [], true])('%j is JSON, but not an event', (value) => {
  expect(problem(() => parse(value))).toMatch(/must be an object/)
})

test('any content is either parsed or rejected as Unparsable', () => {
  const content = fc.oneof(
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(content, (bytes) => {
      expect(problem(() => parseEvent(bytes))).not.toBe('')
    }),
  )
})

test('the schema of an event changes only on purpose', () => {
  expect(platformEventSchema).toMatchInlineSnapshot(`
{
  "properties": {
    "data": {
      "type": "object",
    },
    "eventId": {
      "format": "uuid",
      "type": "string",
    },
    "eventType": {
      "enum": [
        "call.status",
        "agent.status",
        "webhook.endpoint.failing",
        "webhook.endpoint.recovered",
        "webhook.delivery.parked",
        "webhook.parked.limit",
        "webhook.held.limit",
      ],
      "type": "string",
    },
    "occurredAt": {
      "format": "date-time",
      "pattern": "^[^\\sT]+T[^\\sZ]+Z$",
      "type": "string",
    },
    "tenant": {
      "maxLength": 128,
      "minLength": 1,
      "type": [
        "string",
        "null",
      ],
    },
  },
  "required": [
    "eventId",
    "eventType",
    "occurredAt",
    "tenant",
    "data",
  ],
  "type": "object",
}
`)
})

describe('numbers in the data are passed on as written', () => {
  const textOf = (number: string): string =>
    JSON.stringify(event()).replace(
      '"data":{"state":1}',
      `"data":{"n":${number},"list":[${number}, ${number}],"at":"17:06:01.173"}`,
    )
  const passedOn = (number: string): string => {
    const parsed = parseEvent(Buffer.from(textOf(number)))
    const envelope = envelopesOf(parsed, JSON.stringify(parsed.data))
    return envelope(parseDeliveryId('2ed6657d-e927-568b-95e1-2665a8aea6a2')).toString()
  }

  test.each([
    '1.0',
    '-0.50',
    '1e3',
    '1E+3',
    '12345678901234567890',
    '0.1',
    '7',
    '-7',
    '9007199254740993',
    '100000000000000000000000',
  ])('%s', (number) => {
    expect(passedOn(number)).toContain(`"data":{"n":${number},"list":[${number},${number}],"at":"17:06:01.173"}`)
  })

  test('for any number', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?$/)
    fc.assert(
      fc.property(digits, (number) => {
        expect(passedOn(number)).toContain(`{"n":${number},`)
      }),
    )
  })
})

describe('halves of surrogate pairs, which strict parsers refuse', () => {
  const nameIn = (name: string): unknown =>
    parseEvent(Buffer.from(JSON.stringify(event({ data: { name: '?' } })).replace('"name":"?"', name))).data

  test.each([
    [String.raw`"name":"a\ud83d"`, { name: 'a\ufffd' }],
    [String.raw`"name":"\uDE00\uD83D b"`, { name: '\ufffd\ufffd b' }],
    [String.raw`"name":"\ud83d\ud83d\ude00\ude00"`, { name: '\ufffd😀\ufffd' }],
    [String.raw`"name":"\ud83d\\ude00"`, { name: String.raw`${'\ufffd'}\ude00` }],
    [String.raw`"n\udfff":["\udbff"]`, { 'n\ufffd': ['\ufffd'] }],
  ])('are replaced in %s', (text, data) => {
    expect(nameIn(text)).toEqual(data)
  })

  test.each([String.raw`"name":"\ud83d\ude00 \\ud83d \u00e9 \" é 😀"`, String.raw`"name":"\\\\ud83d"`])(
    'are not seen in %s',
    (text) => {
      expect(nameIn(text)).toEqual(JSON.parse(`{${text}}`))
    },
  )

  test('are in no event that was parsed', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })),
        fc.nat(6),
        (texts, cut) => {
          const halved = Object.fromEntries(
            Object.entries(texts).map(([name, text]) => [name.slice(cut), text.slice(cut)]),
          )
          const parsed = JSON.stringify(parse(event({ data: halved })).data)
          expect(parsed).toBe(JSON.stringify(JSON.parse(Buffer.from(parsed).toString())))
          expect(parsed).not.toMatch(/(^|[^\\])(\\\\)*\\ud[89a-f]/)
        },
      ),
    )
  })
})

test('an event of 256 KiB is accepted, a larger one is rejected', () => {
  const withRest = (bytes: number): Buffer => {
    const empty = JSON.stringify(event({ data: { rest: '' } }))
    return Buffer.from(JSON.stringify(event({ data: { rest: 'x'.repeat(bytes - empty.length) } })))
  }
  expect(parseEvent(withRest(256 * 1024)).eventType).toBe('call.status')
  expect(problem(() => parseEvent(withRest(256 * 1024 + 1)))).toContain('larger than')
})

describe('an event nested deeply', () => {
  const nested = (levels: number, inner = '1.0'): Buffer =>
    Buffer.from(
      JSON.stringify(event({ data: { deep: 'here' } })).replace(
        '"here"',
        '[{"a":'.repeat(levels / 2) + inner + '}]'.repeat(levels / 2),
      ),
    )

  test.each([600, 5_000, 40_000])('of %i levels is not parsed', (levels) => {
    expect(problem(() => parseEvent(nested(levels)))).toBe('nested deeper than 500 levels')
  })

  test('of fewer levels is parsed and written, whatever its texts contain', () => {
    const brackets = JSON.stringify('[{"\\'.repeat(1_000))
    const content = nested(490, brackets)
    expect(serialiseEvent(parseEvent(content)).equals(content)).toBe(true)
  })
})
