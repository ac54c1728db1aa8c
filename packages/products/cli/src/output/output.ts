import { styleFor } from './style.ts'
import { type Column, type Page, renderRecord, renderTable } from './table.ts'

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
