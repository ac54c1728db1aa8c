/** Ends the report with one plain line that a script can find: how many tests passed, how many did not. */
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    // A file that does not even load has no tests to count: it failed as one.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    process.stderr.write(`\n${results.numPassedTests} passed, ${failed} failed\n`)
  }
}
