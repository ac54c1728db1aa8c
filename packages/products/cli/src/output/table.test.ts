import { coloured, plain, styleFor } from './style.ts'
import { type Column, renderRecord, renderTable } from './table.ts'

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
  const fields = [
    ['call', 'c-1'],
    ['agent', null],
  ] as const
  expect(renderRecord(fields, { width, style: plain })).toBe(expected)
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
