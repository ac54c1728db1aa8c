import { readFileSync } from 'node:fs'

/** Whether a test file replaces the timers of its process. */
export const hasFakeTimers = (path) => readFileSync(path, 'utf8').includes('jest.useFakeTimers(')
