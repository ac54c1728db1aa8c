import { type Style, type Tone } from './style.ts'

type Value = string | number | null | undefined

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => Value
  readonly tone?: (row: Row) => Tone | undefined
}

export interface Page {
  /** Of the terminal; undefined: the output is a pipe or a file. */
  readonly width: number | undefined
  readonly style: Style
}

/** A terminal gets a header and aligned columns, the last one cut at the edge; a pipe the whole values between tabs. */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, style }: Page,
): string {
  const cells = rows.map((row) => columns.map(({ of }) => cellOf(of(row), width)))
  if (width === undefined) return cells.map((line) => line.join('\t')).join('\n')
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...cells.map((line) => line[at]?.length ?? 0)))
  const line = (texts: readonly string[], toneOf: (at: number) => Tone | undefined): string => {
    let left = width
    return texts
      .map((text, at) => {
        const isLast = at === texts.length - 1
        const shown = isLast ? cut(text, left) : text.padEnd(widths[at] ?? 0)
        left -= shown.length + GAP.length
        const tone = toneOf(at)
        return tone === undefined ? shown : style(tone, shown)
      })
      .join(GAP)
      .trimEnd()
  }
  const header = line(
    columns.map(({ title }) => title),
    () => 'dim',
  )
  return [header, ...rows.map((row, at) => line(cells[at] ?? [], (column) => columns[column]?.tone?.(row)))].join('\n')
}

/** One object as lines of name and value. */
export function renderRecord(
  fields: readonly (readonly [name: string, value: Value])[],
  { width, style }: Page,
): string {
  const names = Math.max(0, ...fields.map(([name]) => name.length))
  return fields
    .map(([name, value]) =>
      width === undefined
        ? `${name}\t${cellOf(value, width)}`
        : `${style('dim', name.padEnd(names))}${GAP}${cellOf(value, width)}`,
    )
    .join('\n')
}

const GAP = '  '
/** Less of the last column tells nothing; a narrow terminal wraps the line. */
const NARROWEST = 30

function cut(text: string, width: number): string {
  const most = Math.max(width, NARROWEST)
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

/** Endpoints and callers choose texts, so nothing in them may steer the terminal. */
const cellOf = (value: Value, width: number | undefined): string =>
  withoutControls(String(value ?? (width === undefined ? '' : '–')))
// oxlint-disable-next-line no-control-regex -- these are what is removed
export const withoutControls = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
