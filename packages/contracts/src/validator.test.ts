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

test('a right value comes back as it is, unknown members included', () => {
  const value = { ...right, unknown: { deep: true } }
  const result = validate(value)
  expect(result).toEqual({ ok: true, value })
  expect(result.ok && result.value).toBe(value)
})

test.each<[string, unknown, { pointer: string; detail: string }[]]>([
  ['the whole is wrong', null, [{ pointer: '', detail: 'must be object' }]],
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
    'every fault is listed at once',
    { url: 'not a url', 'a/b~c': 0, colours: 'red' },
    [
      { pointer: '/url', detail: 'must match format "uri"' },
      { pointer: '/a~1b~0c', detail: 'must be >= 1' },
      { pointer: '/colours', detail: 'must be array' },
    ],
  ],
])('%s', (_name, value, faults) => expect(validate(value)).toEqual({ ok: false, faults }))

test('the same fault at the same place is told once', () => {
  const twice = compileSchema<unknown>({
    anyOf: [
      { type: 'string', minLength: 9 },
      { type: 'string', maxLength: 3 },
    ],
  })
  const mustBeString = { pointer: '', detail: 'must be string' }
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

test('a schema with a mistake does not compile, rather than letting everything pass', () => {
  expect(() => compileSchema({ type: 'object', proprties: {} })).toThrow(/proprties/)
})
