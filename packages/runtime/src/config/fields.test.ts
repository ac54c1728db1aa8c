import * as fc from 'fast-check'
import {
  choice,
  duration,
  durations,
  type Field,
  FieldError,
  flag,
  hostNames,
  integer,
  json,
  networks,
  optional,
  origins,
  port,
  rate,
  text,
  url,
  urls,
} from './fields.ts'

const DAY_MS = 86_400_000

test.each<[string, Field<unknown>, string, unknown]>([
  ['text', text(), ' as it is ', ' as it is '],
  ['choice', choice(['a', 'b']), 'b', 'b'],
  ['flag', flag(), 'true', true],
  ['flag', flag(), 'false', false],
  ['flag', flag(), 'True', true],
  ['flag', flag(), 'FALSE', false],
  ['integer', integer({ min: -5, max: 5 }), '-5', -5],
  ['port', port(), '0', 0],
  ['port', port(), '65535', 65_535],
  ['url', url(['amqp', 'amqps']), 'amqps://u:p@broker/v', 'amqps://u:p@broker/v'],
  ['urls', urls(['amqp', 'amqps']), 'amqp://u:p@a/v', ['amqp://u:p@a/v']],
  ['urls', urls(['amqp', 'amqps']), 'amqp://u:p,q@a/v, amqps://b', ['amqp://u:p,q@a/v', 'amqps://b']],
  [
    'urls',
    urls(['redis', 'redis+cluster'], { alone: ['redis'] }),
    'redis+cluster://a,redis+cluster://b',
    ['redis+cluster://a', 'redis+cluster://b'],
  ],
  ['duration', duration(), '0s', 0],
  ['duration', duration(), '250ms', 250],
  ['duration', duration(), '10s', 10_000],
  ['duration', duration(), '5m', 300_000],
  ['duration', duration(), '2h', 7_200_000],
  ['duration', duration(), '24d', 24 * DAY_MS],
  ['duration with a minimum', duration('1s', { minMs: 1_000 }), '1000ms', 1_000],
  ['duration with a maximum beyond a timer', duration('30d', { maxMs: 365 * DAY_MS }), '30d', 30 * DAY_MS],
  ['durations', durations(), '10s,1m, 6h', [10_000, 60_000, 21_600_000]],
  ['durations', durations(), 'none', []],
  ['networks', networks(), '10.0.0.0/8, fd00::/8,127.0.0.1,::1', ['10.0.0.0/8', 'fd00::/8', '127.0.0.1', '::1']],
  ['networks', networks(), '', []],
  [
    'origins',
    origins(),
    'https://app.example, http://localhost:5173',
    ['https://app.example', 'http://localhost:5173'],
  ],
  ['origins', origins(), '', []],
  ['hostNames', hostNames(), 'switchhook.example.com, api,localhost.', ['switchhook.example.com', 'api', 'localhost.']],
  ['hostNames', hostNames(), '', []],
  ['json', json({ type: 'array', items: { type: 'integer' } }), '[1,2]', [1, 2]],
  ['optional', optional(flag()), 'true', true],
  ['optional', optional(flag()), '', undefined],
])('%s: %p %j', (_kind, field, raw, expected) => expect(field.parse(raw)).toEqual(expected))

const bad: [string, Field<unknown>, string, RegExp][] = [
  ['choice', choice(['a', 'b']), 'c', /^must be one of a, b$/],
  ['choice', choice(['a', 'b']), 'A', /one of/],
  ['flag', flag(), 'yes', /^must be true or false$/],
  ['flag', flag(), 'true ', /true or false/],
  ...['6', '-6', '1.5', '1e0', '0x1', 'five', ' 1', '1 '].map((raw): [string, Field<unknown>, string, RegExp] => [
    'integer',
    integer({ min: -5, max: 5 }),
    raw,
    /^must be a whole number from -5 to 5$/,
  ]),
  ['port', port(), '65536', /from 0 to 65535/],
  ['url', url(['amqp', 'amqps']), 'http://secret@host', /^must be a URL that starts with amqp:\/\/ or amqps:\/\/$/],
  ['url', url(['redis']), 'secret', /starts with redis:\/\//],
  ['urls', urls(['amqp']), 'amqp://a,http://secret@b', /^must be URLs that start with amqp:\/\/, separated by commas$/],
  ['urls', urls(['amqp']), 'amqp://a,secret', /^must be URLs/],
  [
    'urls',
    urls(['redis', 'redis+cluster'], { alone: ['redis'] }),
    'redis://a,redis://secret@b',
    /^must be a single URL if it starts with redis:\/\/$/,
  ],
  ...['10', '10 s', 's', '1.5s', '-1s', '1w', '1S', '', '9999999999999s'].map(
    (raw): [string, Field<unknown>, string, RegExp] => [
      'duration',
      duration(),
      raw,
      /^must be a duration such as 250ms, 10s, 5m or 2h$/,
    ],
  ),
  ['duration', duration(), '25d', /^must be from 0ms to 24d$/],
  ['duration with a minimum', duration('1s', { minMs: 1_000 }), '999ms', /^must be from 1s to 24d$/],
  ['duration with a maximum', duration('1h', { maxMs: DAY_MS }), '25h', /^must be from 0ms to 1d$/],
  ['duration of at most a minute', duration('10s', { maxMs: 60_000 }), '2m', /^must be from 0ms to 1m$/],
  ['durations', durations(), '10s,,1m', /duration/],
  ['durations', durations(), '10s;1m', /duration/],
  ['durations', durations(), '10s,none', /duration/],
  ['durations', durations(), '0s', /from 1ms/],
  ...['600', '600/', '/1m', '0/1m', '600/1', '600/500ms', '600 / 1m', '-1/1m', '1e3/1m', 'none'].map(
    (raw): [string, Field<unknown>, string, RegExp] => [
      'rate',
      rate(),
      raw,
      /^must be off, or a rate such as 600\/1m$/,
    ],
  ),
  ['rate', rate(), '600/0s', /^must be from 1s to 1d$/],
  ['rate', rate(), '600/25h', /^must be from 1s to 1d$/],
  ...[
    '*',
    'null',
    'app.example',
    'https://app.example/',
    'https://app.example/path',
    'https://*.example',
    'https://App.example',
    'https://app.example:443',
    'https://user@app.example',
    'ftp://app.example',
  ].map((raw): [string, Field<unknown>, string, RegExp] => ['origins', origins(), raw, /^must be origins such as/]),
  ...['10.0.0.0/33', 'fd00::/129', '10.0.0/8', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', 'host', '*'].map(
    (raw): [string, Field<unknown>, string, RegExp] => ['networks', networks(), raw, /^must be networks such as/],
  ),
  ...['https://a.example', 'a.example:8080', '*.example', '.example', 'a b', '[::1]'].map(
    (raw): [string, Field<unknown>, string, RegExp] => ['hostNames', hostNames(), raw, /^must be host names such as/],
  ),
  ['json', json({ type: 'array' }), '[secret', /^must be JSON$/],
  ['json', json({ type: 'array' }), '{"secret":1}', /^\/ must be an array$/],
  [
    'json',
    json({ type: 'object', required: ['b'], properties: { a: { type: 'integer' }, b: { type: 'string' } } }),
    '{"a":"secret"}',
    /^(?=.*\/b is required)(?=.*\/a must be an integer)/,
  ],
  ['optional', optional(flag()), 'maybe', /true or false/],
]

test.each(bad)('%s: %p %j is rejected with what is expected, without the value', (_kind, field, raw, expected) => {
  const parse = () => field.parse(raw)
  expect(parse).toThrow(FieldError)
  expect(parse).toThrow(expected)
  expect(parse).not.toThrow(/secret/)
})

test('a default is written as in the environment, and is valid', () => {
  const fields: [Field<unknown>, unknown][] = [
    [text('x'), 'x'],
    [choice(['a', 'b'], 'b'), 'b'],
    [flag(false), false],
    [integer({ min: 0, max: 9 }, 0), 0],
    [port(9_100), 9_100],
    [url(['redis'], 'redis://127.0.0.1'), 'redis://127.0.0.1'],
    [duration('30s'), 30_000],
    [durations('10s,1m'), [10_000, 60_000]],
    [rate('600/1m'), { requests: 600, windowMs: 60_000 }],
    [rate('off'), null],
    [networks(''), []],
    [json({ type: 'array' }, '[]'), []],
  ]
  for (const [field, expected] of fields) expect(field.parse(field.fallback ?? '')).toEqual(expected)
  const required = [
    text(),
    choice(['a']),
    flag(),
    port(),
    url(['a']),
    duration(),
    durations(),
    rate(),
    networks(),
    json({}),
  ]
  expect(required.map(({ fallback }) => fallback)).toEqual(required.map(() => undefined))
})

test('a duration means the same in every unit', () => {
  const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS }
  const one = fc.constantFrom(...Object.keys(units)).chain((unit) => {
    const max = Math.floor((24 * DAY_MS) / (units[unit] ?? 1))
    return fc.record({ unit: fc.constant(unit), amount: fc.nat({ max }) })
  })
  fc.assert(
    fc.property(one, ({ unit, amount }) => {
      expect(duration().parse(`${amount}${unit}`)).toBe(amount * (units[unit] ?? 1))
    }),
  )
})

test('a field accepts any text or throws a FieldError', () => {
  const all = [
    choice(['a']),
    flag(),
    integer({ min: 0, max: 9 }),
    port(),
    url(['redis']),
    duration(),
    durations(),
    rate(),
    networks(),
  ]
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...all), (raw, field) => {
      try {
        field.parse(raw)
      } catch (error) {
        expect(error).toBeInstanceOf(FieldError)
      }
    }),
  )
})
