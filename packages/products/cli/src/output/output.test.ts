import { createOutput } from './output.ts'

function outputs(isJson: boolean, isTTY = false) {
  const written = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof written) => ({ isTTY, write: (text: string) => (written[name] += text) })
  return { written, out: createOutput({ stdout: sink('stdout'), stderr: sink('stderr') }, {}, isJson) }
}

const ROW = { id: 'a' }
const COLUMNS = [{ title: 'ID', of: ({ id }: typeof ROW) => id }]

test('results go to stdout, progress and advice to stderr', () => {
  const { written, out } = outputs(false)
  out.progress('1 of 2')
  out.list([ROW], COLUMNS)
  out.note('Then do this.')
  expect(written).toEqual({ stdout: 'a\n', stderr: '1 of 2\nThen do this.\n' })
})

test('with --json, the objects of the API are printed, and those of a stream in a line each', () => {
  const { written, out } = outputs(true)
  out.list([ROW], COLUMNS)
  out.record(ROW, [['id', 'A']])
  out.stream(ROW, () => 'a')
  out.stream(ROW, () => 'a')
  expect(written.stdout).toBe('[\n  {\n    "id": "a"\n  }\n]\n{\n  "id": "a"\n}\n{"id":"a"}\n{"id":"a"}\n')
})

test.each([
  [false, ''],
  [true, '[]\n'],
])('an empty list with --json %s', (isJson, expected) => {
  const { written, out } = outputs(isJson)
  out.list([], COLUMNS)
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
