import type { FileResult } from '../run-part.ts'

/** A test file that has passed, with changes. */
export const aFileResult = (change: Partial<FileResult> = {}): FileResult => ({
  project: 'it',
  path: 'a',
  passed: 3,
  failed: 0,
  skipped: 0,
  ms: 1_500,
  failure: '',
  printed: '',
  machine: 'idle',
  brokerLog: '',
  ...change,
})
