import { relative } from 'node:path'

/** A file that runs longer than this is reported while it runs. */
const SLOW_FILE_MS = 20_000
const SLOWEST_SHOWN = 10

/**
 * Reports progress during a long run: one line per test file with its position, its tests and its time, the failures of a
 * file as soon as it ends, and the slowest files at the end. Jest's own reporter does not show how many files are left.
 */
export default class Progress {
  #root
  #total = 0
  #ended = 0
  #times = []
  #running = new Map()

  constructor({ rootDir }) {
    this.#root = rootDir
  }

  onRunStart({ numTotalTestSuites }) {
    this.#total = numTotalTestSuites
    say(`${this.#total} test files`)
  }

  onTestFileStart(test) {
    const file = this.#nameOf(test)
    const timer = setInterval(() => say(`  … still running: ${file}`), SLOW_FILE_MS)
    this.#running.set(test.path, timer)
  }

  onTestFileResult(test, { numPassingTests, numFailingTests, numPendingTests, failureMessage, perfStats }) {
    clearInterval(this.#running.get(test.path))
    this.#running.delete(test.path)
    this.#ended += 1
    const ms = perfStats.end - perfStats.start
    const file = this.#nameOf(test)
    this.#times.push({ file, ms })
    const tests = [
      `${numPassingTests} passed`,
      ...(numFailingTests > 0 ? [`${numFailingTests} FAILED`] : []),
      ...(numPendingTests > 0 ? [`${numPendingTests} skipped`] : []),
    ].join(', ')
    const hasFailed = typeof failureMessage === 'string' && failureMessage !== ''
    say(`${hasFailed ? 'FAIL' : 'ok  '} ${this.#position()} ${seconds(ms)}  ${file} (${tests})`)
    if (hasFailed) say(failureMessage)
  }

  onRunComplete(_contexts, results) {
    for (const timer of this.#running.values()) clearInterval(timer)
    say(`\nSlowest files:`)
    for (const { file, ms } of this.#times.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST_SHOWN)) {
      say(`  ${seconds(ms)}  ${file}`)
    }
    if (results.numFailedTestSuites + results.numRuntimeErrorTestSuites === 0) return
    say('\nFailed:')
    for (const { testFilePath, testResults, numFailingTests, testExecError } of results.testResults) {
      if (numFailingTests === 0 && testExecError == null) continue
      say(`  ${relative(this.#root, testFilePath)}`)
      for (const { status, fullName } of testResults) if (status === 'failed') say(`    ${fullName}`)
    }
  }

  #position() {
    const width = String(this.#total).length
    return `[${String(this.#ended).padStart(width)}/${this.#total}]`
  }

  #nameOf({ path, context }) {
    return `${context.config.displayName?.name ?? 'test'} ${relative(this.#root, path)}`
  }
}

const say = (line) => process.stderr.write(`${line}\n`)

const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(6)} s`
