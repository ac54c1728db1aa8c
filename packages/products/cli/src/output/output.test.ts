import { type Column, coloured, createOutput, plain, renderRecord, renderTable, styleFor } from './output.ts'

function outputs(isJson: boolean, isTTY = false) {
  const written = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof written) => ({ isTTY, write: (text: string) => (written[name] += text) })
  return { written, out: createOutput({ stdout: sink('stdout'), stderr: sink('stderr') }, {}, isJson) }
}

const ROW = { id: 'a' }
const ID_COLUMN = [{ title: 'ID', of: ({ id }: typeof ROW) => id }]

test('results go to stdout, progress and advice to stderr', () => {
  const { written, out } = outputs(false)
  out.progress('1 of 2')
  out.list([ROW], ID_COLUMN)
  out.note('Then do this.')
  expect(written).toEqual({ stdout: 'a\n', stderr: '1 of 2\nThen do this.\n' })
})

test('with --json, the objects of the API are printed, and those of a stream in a line each', () => {
  const { written, out } = outputs(true)
  out.list([ROW], ID_COLUMN)
  out.record(ROW, { id: 'A' })
  out.stream(ROW, () => 'a')
  out.stream(ROW, () => 'a')
  expect(written.stdout).toBe('[\n  {\n    "id": "a"\n  }\n]\n{\n  "id": "a"\n}\n{"id":"a"}\n{"id":"a"}\n')
})

test.each([
  [false, ''],
  [true, '[]\n'],
])('an empty list with --json %s', (isJson, expected) => {
  const { written, out } = outputs(isJson)
  out.list([], ID_COLUMN)
  expect(written.stdout).toBe(expected)
})

test('on a terminal, progress replaces itself and is gone before the result; elsewhere, it is not repeated', () => {
  const terminal = outputs(false, true)
  terminal.out.progress('1')
  terminal.out.progress('2')
  terminal.out.note('done')
  expect(terminal.written.stderr).toBe('1\r\u001b[2K2\r\u001b[2Kdone\n')

  const file = outputs(false)
  for (const text of ['1', '1', '2']) file.out.progress(text)
  expect(file.written.stderr).toBe('1\n2\n')
})

interface Row {
  readonly id: string
  readonly state: string | null
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATE', of: ({ state }) => state, tone: ({ state }) => (state === 'parked' ? 'bad' : undefined) },
]
const ROWS: readonly Row[] = [
  { id: 'a', state: 'parked' },
  { id: 'long', state: null },
]

test.each([
  ['a terminal gets a header and aligned columns', 80, 'ID    STATE\na     parked\nlong  –'],
  ['a narrow terminal wraps short columns', 5, 'ID    STATE\na     parked\nlong  –'],
  ['a pipe gets tabs, no header, and nothing for an empty value', undefined, 'a\tparked\nlong\t'],
])('%s', (_name, width, expected) => {
  expect(renderTable(ROWS, COLUMNS, { width, style: plain })).toBe(expected)
})

test('the last column is cut at the edge of the terminal', () => {
  const rows = [{ id: 'a', state: 'x'.repeat(50) }]
  expect(renderTable(rows, COLUMNS, { width: 40, style: plain })).toBe(`ID  STATE\na   ${'x'.repeat(35)}…`)
  expect(renderTable(rows, COLUMNS, { width: undefined, style: plain })).toBe(`a\t${'x'.repeat(50)}`)
})

test('a text of a stranger cannot steer the terminal', () => {
  const rows = [{ id: 'a', state: '\u001b[31mred\u0007\nnext\u009b' }]
  expect(renderTable(rows, COLUMNS, { width: undefined, style: plain })).toBe('a\t [31mred next ')
})

test.each([
  [80, 'call   c-1\nagent  –'],
  [undefined, 'call\tc-1\nagent\t'],
])('an object in a width of %s', (width, expected) => {
  expect(renderRecord({ call: 'c-1', agent: null, secret: undefined }, { width, style: plain })).toBe(expected)
})

test.each([
  ['a terminal', true, {}, true],
  ['a pipe', false, {}, false],
  ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
  ['a terminal with an empty NO_COLOR', true, { NO_COLOR: '' }, true],
  ['a terminal without abilities', true, { TERM: 'dumb' }, false],
])('%s gets colour: %s', (_name, isTty, env, hasColour) => {
  expect(styleFor(isTty, env)('bad', 'x')).toBe(hasColour ? coloured('bad', 'x') : 'x')
})

test('colour does not move the columns', () => {
  const text = renderTable(ROWS, COLUMNS, { width: 80, style: coloured })
  expect(text).toContain('\u001b[31mparked')
  // oxlint-disable-next-line no-control-regex -- the colours
  expect(text.replaceAll(/\u001b\[\d+m/g, '')).toBe('ID    STATE\na     parked\nlong  –')
})
