import { type Style, styleFor } from './style.ts'
import { type Column, type Page, renderRecord, renderTable } from './table.ts'

/** A stream of the process, as far as the output uses it. */
export interface Sink {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Results go to stdout, progress and advice to stderr. */
export interface Output {
  readonly isJson: boolean
  readonly style: Style
  /** A line of the result. */
  print(text: string): void
  /** The API's objects with `--json`, otherwise the text. */
  show(value: unknown, text: () => string): void
  /** A message of a stream: one line of JSON with `--json`. */
  stream(value: unknown, text: () => string): void
  list<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void
  record(value: object, fields: Parameters<typeof renderRecord>[0]): void
  /** Progress or advice. */
  note(text: string): void
  /** Progress that replaces the line before it; on a pipe, a line of its own if it has changed. */
  progress(text: string): void
}

const DEFAULT_WIDTH = 80

export function createOutput(
  { stdout, stderr }: { readonly stdout: Sink; readonly stderr: Sink },
  env: NodeJS.ProcessEnv,
  isJson: boolean,
): Output {
  const page: Page = {
    width: stdout.isTTY ? (stdout.columns ?? DEFAULT_WIDTH) : undefined,
    style: styleFor(stdout.isTTY === true, env),
  }
  let last = ''
  const print = (text: string): void => {
    if (text !== '') stdout.write(`${text}\n`)
  }
  const clear = (): void => {
    if (last !== '' && stderr.isTTY) stderr.write('\r\u001b[2K')
    last = ''
  }
  const show = (value: unknown, text: () => string): void => {
    clear()
    print(isJson ? JSON.stringify(value, undefined, 2) : text())
  }
  return {
    isJson,
    style: page.style,
    print,
    show,
    stream: (value, text) => print(isJson ? JSON.stringify(value) : text()),
    list: (rows, columns) => show(rows, () => (rows.length === 0 ? '' : renderTable(rows, columns, page))),
    record: (value, fields) => show(value, () => renderRecord(fields, page)),
    note: (text) => {
      clear()
      stderr.write(`${text}\n`)
    },
    progress: (text) => {
      if (text === last) return
      clear()
      last = text
      stderr.write(stderr.isTTY ? text : `${text}\n`)
    },
  }
}
