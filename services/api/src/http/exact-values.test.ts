import { inexactValues } from './exact-values.ts'

const faultsOf = (text: string, described?: readonly string[]) => {
  const value = JSON.parse(text) as object
  return inexactValues(value, text, described ?? Object.keys(value))
}

test.each([
  ['{"numeric":["<",1e400]}', '/numeric/1'],
  ['[-1e999]', '/0'],
  ['{"a":{"b/c":1e400}}', '/a/b~1c'],
  ['{"id":9007199254740993}', '/id'],
  ['{"id":-12345678901234567890}', '/id'],
  ['{"numeric":[">",1e-400]}', '/numeric/1'],
  ['[0,-1.5E-330]', '/1'],
  [`{"a":0.${'0'.repeat(330)}1}`, '/a'],
])('%s is a number that would be changed', (text, pointer) => {
  expect(faultsOf(text)).toEqual([{ pointer, detail: expect.stringContaining('number') as string }])
})

test.each([
  [String.raw`{"message":"a\ud83d"}`, '/message'],
  [String.raw`{"list":["ok","\uDE00 and \ud83d\ude00"]}`, '/list/1'],
  [String.raw`"\udfff\ud800"`, ''],
])('%s is a text that is not Unicode', (text, pointer) => {
  expect(faultsOf(text)).toEqual([{ pointer, detail: expect.stringContaining('surrogate') as string }])
})

test('a field that the schema does not describe is ignored, whatever it holds', () => {
  expect(faultsOf('{"other":1e400,"deep":{"a":"\\ud83d"}}', ['known'])).toEqual([])
  expect(faultsOf('{"other":1e400,"known":1e400}', ['known'])).toMatchObject([{ pointer: '/known' }])
})

test('a field whose name is not Unicode is named by its place', () => {
  expect(faultsOf(String.raw`{"a":{"x\ud800":1}}`)).toEqual([
    { pointer: '/a', detail: expect.stringContaining('surrogate') as string },
  ])
})

test.each([
  '{"a":1.5,"b":-0.1e10,"c":9007199254740991,"d":1e-300,"e":0.0e-400,"f":0e-999,"g":"1e400 and 9007199254740993"}',
  String.raw`{"smile":"\ud83d\ude00 \u00e9 \\ud83d","😀":true,"none":null}`,
  '[]',
])('%s is kept as it is', (text) => {
  expect(faultsOf(text)).toEqual([])
})

test('every fault is named', () => {
  expect(
    faultsOf(String.raw`[1e400,{"a":"\ud800"},[1e400]]`)
      .map(({ pointer }) => pointer)
      .toSorted(),
  ).toEqual(['/0', '/1/a', '/2/0'])
})

test('a body with thousands of faults below a long name costs little memory', () => {
  const text = JSON.stringify({ ['n'.repeat(30_000)]: Array(6_000).fill('?') }).replaceAll('"?"', '1e16')
  const bytes = faultsOf(text).reduce((sum, { pointer }) => sum + pointer.length, 0)
  expect(bytes).toBeLessThan(2_000_000)
})

test('a deep body is no problem', () => {
  const depth = 5_000
  expect(faultsOf(`${'['.repeat(depth)}1e400,1e-400${']'.repeat(depth)}`)).not.toEqual([])
})
