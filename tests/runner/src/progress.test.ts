import { createProgress } from './progress.ts'
import type { FileResult } from './run-part.ts'
import { aFileResult } from './testing/a-file-result.ts'

jest.useFakeTimers()
afterAll(() => jest.useRealTimers())

const part = { name: 'it-1', project: 'it', args: [] }
const ended = (path: string, more: Partial<FileResult> = {}): FileResult => aFileResult({ path, ...more })

function progressOn(isTTY: boolean) {
  let text = ''
  const progress = createProgress({ isTTY, write: (chunk) => void (text += chunk) })
  return {
    progress,
    /** What was written since the last call. */
    written: () => {
      const before = text
      text = ''
      return before
    },
  }
}

test.each([
  ['passed', {}, 'ok   [1/2]    1.5 s  it a (3 passed)\n'],
  ['was skipped in part', { skipped: 2 }, 'ok   [1/2]    1.5 s  it a (3 passed, 2 skipped)\n'],
  [
    'failed',
    { failed: 1, failure: 'expected 1\n', printed: 'no memory' },
    'FAIL [1/2]    1.5 s  it a (3 passed, 1 FAILED)\n' +
      'expected 1\n\nPrinted by the file and its processes:\nno memory\n\n(idle)\n',
  ],
])('a file that %s is one line, with its failure', (_what, result, line) => {
  const { progress, written } = progressOn(false)
  progress.expect(new Map(['a', 'b'].map((path) => [path, 1])))
  progress.fileEnded(ended('a', result))
  expect(written()).toBe(line)
})

test('a file that runs again counts as one more', () => {
  const { progress, written } = progressOn(false)
  progress.expect(new Map([['a', 1]]))
  for (const path of ['a', 'a']) progress.fileEnded(ended(path))
  expect(written()).toContain('ok   [2/2]')
})

test('a file that takes long is told until it ends', () => {
  const { progress, written } = progressOn(false)
  progress.fileBegan(part, 'a')
  jest.advanceTimersByTime(45_000)
  expect(written()).toBe('  … still running: it a\n'.repeat(2))
  progress.fileEnded(ended('a'))
  written()
  jest.advanceTimersByTime(45_000)
  expect(written()).toBe('')
})

test('a terminal shows how many files are left and, by their expected times, about how long', () => {
  const { progress, written } = progressOn(true)
  progress.expect(
    new Map([
      ['a', 1_000],
      ['b', 60_000],
      ['c', 61_000],
    ]),
  )
  progress.fileEnded(ended('a'))
  expect(written()).toMatch(/\n2 of 3 files left$/)
  jest.advanceTimersByTime(120_000)
  progress.fileEnded(ended('b'))
  expect(written()).toBe('\r\u001B[Kok   [2/3]    1.5 s  it b (3 passed)\n1 of 3 files left, about 2 min')
})

test('after the end nothing is told, and the last line is removed', () => {
  const { progress, written } = progressOn(true)
  progress.fileBegan(part, 'a')
  progress.mute()
  progress.fileEnded(ended('b', { failed: 1 }))
  jest.advanceTimersByTime(45_000)
  expect(written()).toBe('\r\u001B[K')
})

test('the own lines of Jest are left out', () => {
  const { progress, written } = progressOn(false)
  progress.printed('Running one project: it\n')
  progress.printed('Running 2 projects: it, unit\n… test servers: RabbitMQ is starting\n')
  expect(written()).toBe('… test servers: RabbitMQ is starting\n')
})
