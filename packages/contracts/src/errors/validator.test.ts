import { compileSchema } from './validator.ts'

const validate = compileSchema<unknown>({
  type: 'object',
  required: ['url', 'a/b~c'],
  properties: {
    url: { type: 'string', format: 'uri' },
    'a/b~c': { type: 'integer', minimum: 1 },
    colours: { type: 'array', uniqueItems: true, items: { type: 'string', enum: ['red', 'green'] } },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
})
const right = { url: 'https://client.example', 'a/b~c': 1 }

test('a valid value is returned unchanged, unknown fields included', () => {
  const value = { ...right, unknown: { deep: true } }
  const result = validate(value)
  expect(result).toEqual({ ok: true, value })
  expect(result.ok && result.value).toBe(value)
})

test.each<[string, unknown, { pointer: string; detail: string }[]]>([
  ['the whole is wrong', null, [{ pointer: '', detail: 'must be an object' }]],
  [
    'a missing member is pointed at, its name escaped (RFC 6901)',
    { url: right.url },
    [{ pointer: '/a~1b~0c', detail: 'is required' }],
  ],
  [
    'a choice lists what is possible',
    { ...right, colours: ['red', 'blue'] },
    [{ pointer: '/colours/1', detail: 'must be one of red, green' }],
  ],
  [
    'all faults are listed together',
    { url: 'not a url', 'a/b~c': 0, colours: 'red' },
    [
      { pointer: '/url', detail: 'must match format "uri"' },
      { pointer: '/a~1b~0c', detail: 'must be at least 1' },
      { pointer: '/colours', detail: 'must be an array' },
    ],
  ],
])('%s', (_name, value, faults) => expect(validate(value)).toEqual({ ok: false, faults }))

test.each<[string, boolean]>([
  ['2026-11-20T17:06:01Z', true],
  ['2026-11-20t17:06:01.123456789z', true],
  ['2026-11-20T17:06:01.5-05:30', true],
  ['2024-02-29T00:00:00+23:59', true],
  ['2026-11-20 17:06:01Z', false],
  ['2026-11-20T17:06:01', false],
  ['2026-11-20T17:06Z', false],
  ['2026-11-20T17:06:01+05', false],
  ['2026-11-20T17:06:01+0530', false],
  ['2026-11-20T24:00:00Z', false],
  ['2026-11-20T17:06:01+24:00', false],
  ['2026-02-29T17:06:01Z', false],
  ['2026-13-01T17:06:01Z', false],
  ['10000-01-01T00:00:00Z', false],
  // JavaScript has no leap seconds, so such a time could not be compared with any other.
  ['2016-12-31T23:59:60Z', false],
])('the time %s is valid: %s', (time, ok) => {
  expect(compileSchema({ type: 'string', format: 'date-time' })(time).ok).toBe(ok)
})

test.each<[object, unknown, string]>([
  [{ type: ['string', 'null'], enum: ['exhausted', null] }, 'x', 'must be one of exhausted, null'],
  [{ type: 'string', enum: ['parked'] }, 7, 'must be one of parked'],
  [{ type: ['integer', 'null'] }, 'x', 'must be an integer or null'],
  [{ type: 'boolean' }, 'no', 'must be true or false'],
  [{ type: ['boolean', 'null'] }, 'no', 'must be true, false or null'],
  [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, null, 'must be a string or an integer'],
  [{ anyOf: [{ type: 'string' }, { type: ['boolean', 'null'] }] }, 1, 'must be a string, true, false or null'],
  [{ const: true }, false, 'must be true'],
  [{ type: 'string', format: 'date-time' }, 'now', 'must be an RFC 3339 time, such as 2026-11-20T17:06:01Z'],
  [{ type: 'string', format: 'uuid' }, '42', 'must be a GUID, such as 4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11'],
  [{ type: 'integer', maximum: 100 }, 101, 'must be at most 100'],
  [{ type: 'string', minLength: 1 }, '', 'must not be empty'],
  [{ type: 'string', minLength: 2 }, 'x', 'must have at least 2 characters'],
  [{ type: 'string', maxLength: 2 }, 'xyz', 'must have at most 2 characters'],
  [{ type: 'array', minItems: 1 }, [], 'must not be empty'],
  [{ type: 'array', minItems: 2 }, [1], 'must have at least 2 items'],
  [{ type: 'array', maxItems: 1 }, [1, 2], 'must have at most 1 item'],
  [{ type: 'string', pattern: '^a$' }, 'b', 'must match pattern "^a$"'],
  [{ type: 'string', pattern: '^[^\\u0000-\\u001f\\u007f]*$' }, 'a\nb', 'must be one line, without control characters'],
  [{ type: 'string', pattern: '^[!-~]+$' }, 'a b', 'must be visible ASCII, without spaces'],
  [{ type: 'object', maxProperties: 1 }, { a: 1, b: 2 }, 'must have at most 1 field'],
])('by %j, %j gives one fault that says what it must be', (schema, value, detail) => {
  expect(compileSchema<unknown>(schema as Record<string, unknown>)(value)).toEqual({
    ok: false,
    faults: [{ pointer: '', detail }],
  })
})

test('the same fault at the same place is reported once', () => {
  const twice = compileSchema<unknown>({
    anyOf: [
      { type: 'string', minLength: 9 },
      { type: 'string', maxLength: 3 },
    ],
  })
  const mustBeString = { pointer: '', detail: 'must be a string' }
  expect(twice(5)).toEqual({
    ok: false,
    faults: [mustBeString, { pointer: '', detail: 'must match a schema in anyOf' }],
  })
})

test('no fault quotes the value', () => {
  const result = validate({ url: 'hunter2', 'a/b~c': -31337, colours: ['hunter2', 'hunter2'], either: ['hunter2'] })
  expect(result.ok).toBe(false)
  expect(JSON.stringify(result)).not.toMatch(/hunter2|31337/)
})

test.each([
  [{ type: 'object', proprties: {} }, /proprties/],
  [{ type: 'strin' }, /strin/],
  [{ type: 'string', minLength: '9' }, /minLength/],
  [{ type: 'object', required: 'url' }, /required/],
  [{ type: 'array', items: 'string' }, /items/],
  [{ type: 'string', enum: 'a' }, /enum/],
])('the invalid schema %j does not compile, rather than accepting everything', (schema, fault) => {
  expect(() => compileSchema(schema)(null)).toThrow(fault)
})

test('thousands of faults below a long name cost little memory and time', () => {
  const numbers = { type: 'object', additionalProperties: { type: 'number' } }
  const check = compileSchema({ type: 'object', additionalProperties: numbers })
  const texts = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [String(at), '']))
  const result = check({ ['n'.repeat(30_000)]: texts })
  const pointers = result.ok ? [] : result.faults.map(({ pointer }) => pointer)
  expect(pointers.length).toBeGreaterThan(0)
  expect(pointers.join('').length).toBeLessThan(500_000)
})

describe('a body of thousands of faults', () => {
  const count = 8_000
  const strict = compileSchema<unknown>({
    type: 'object',
    required: ['url'],
    additionalProperties: false,
    properties: {
      url: { type: 'string', minLength: 1 },
      eventTypes: { type: 'array', items: { enum: ['call.status', 'agent.status'] } },
    },
  })
  const names = Object.fromEntries(Array.from({ length: count }, (_, i) => [`eventType${i}`, '']))

  test('names the first ten of each kind, and none of another kind is lost', () => {
    const result = strict({ ...names, url: '', eventTypes: Array.from({ length: count }, () => 'x') })
    const faults = result.ok ? [] : result.faults
    expect(faults).toHaveLength(21)
    expect(faults).toContainEqual({ pointer: '/url', detail: 'must not be empty' })
    expect(faults).toContainEqual({
      pointer: '/eventType9',
      detail: 'is not a known field; did you mean "eventTypes"?',
    })
    expect(faults).toContainEqual({ pointer: '/eventTypes/9', detail: 'must be one of call.status, agent.status' })
  })
})
