import { styleText } from 'node:util'

/** A stream of the process, as far as the output uses it. */
export interface Sink {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export type Output = ReturnType<typeof createOutput>

const DEFAULT_WIDTH = 80

/** Results go to stdout, progress and advice to stderr. */
export function createOutput(
  { stdout, stderr }: { readonly stdout: Sink; readonly stderr: Sink },
  env: NodeJS.ProcessEnv,
  isJson: boolean,
) {
  const page: Page = {
    width: stdout.isTTY ? (stdout.columns ?? DEFAULT_WIDTH) : undefined,
    style: styleFor(stdout.isTTY === true, env),
  }
  let last = ''
  /** A line of the result. */
  const print = (text: string): void => {
    if (text !== '') stdout.write(`${text}\n`)
  }
  const clear = (): void => {
    if (last !== '' && stderr.isTTY) stderr.write('\r\u001b[2K')
    last = ''
  }
  /** The API's objects with `--json`, otherwise the text. */
  const show = (value: unknown, text: () => string): void => {
    clear()
    print(isJson ? JSON.stringify(value, undefined, 2) : text())
  }
  return {
    isJson,
    style: page.style,
    print,
    show,
    /** A message of a stream: one line of JSON with `--json`. */
    stream: (value: unknown, text: () => string): void => print(isJson ? JSON.stringify(value) : text()),
    list: <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void =>
      show(rows, () => (rows.length === 0 ? '' : renderTable(rows, columns, page))),
    record: (value: object, fields: Parameters<typeof renderRecord>[0]): void =>
      show(value, () => renderRecord(fields, page)),
    /** Progress or advice. */
    note: (text: string): void => {
      clear()
      stderr.write(`${text}\n`)
    },
    /** Progress that replaces the line before it; on a pipe, a line of its own if it has changed. */
    progress: (text: string): void => {
      if (text === last) return
      clear()
      last = text
      stderr.write(stderr.isTTY ? text : `${text}\n`)
    },
  }
}

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

/** One object as lines of name and value. Undefined: it has no such field. */
export function renderRecord(record: Readonly<Record<string, Value>>, { width, style }: Page): string {
  const fields = Object.entries(record).filter(([, value]) => value !== undefined)
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

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'bold'

/** Colours a text, or returns it as it is. */
export type Style = (tone: Tone, text: string) => string

const FORMATS = { good: 'green', bad: 'red', warn: 'yellow', dim: 'dim', bold: 'bold' } as const

export const plain: Style = (_tone, text) => text
export const coloured: Style = (tone, text) => styleText(FORMATS[tone], text, { validateStream: false })

/** Colour is for terminals, unless `NO_COLOR` is set (no-color.org). */
export const styleFor = (isTty: boolean, env: NodeJS.ProcessEnv): Style =>
  isTty && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? coloured : plain
