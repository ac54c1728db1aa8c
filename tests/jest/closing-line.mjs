/**
 * Ends the report with one plain line that a script can find: how many tests passed, how many did not. Jest appends its
 * summary after every reporter, so the line waits until there is nothing more to come.
 */
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    // A file that does not even load has no tests to count: it failed as one.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    process.once('exit', () => process.stderr.write(`\n${results.numPassedTests} passed, ${failed} failed\n`))
  }
}
