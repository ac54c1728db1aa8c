/**
 * Ends the report with one line for scripts: the number of passed and failed tests. Jest prints its summary after all
 * reporters, so the line is printed at process exit.
 */
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    // A file that fails to load has no tests, so it counts as one failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    process.once('exit', () => process.stderr.write(`\n${results.numPassedTests} passed, ${failed} failed\n`))
  }
}
