/**
 * Ends the report with one line for scripts: the number of passed and failed tests. Jest prints its summary after all
 * reporters, so the line is printed at process exit. A lane of run-lanes.mjs sends the numbers to it instead.
 */
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests
    // A file that fails to load has no tests, so it counts as one failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    if (process.send !== undefined) process.send({ passed, failed })
    else process.once('exit', () => process.stderr.write(`\n${passed} passed, ${failed} failed\n`))
  }
}
