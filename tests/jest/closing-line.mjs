/**
 * Ends the report with one line for scripts: the number of passed and failed tests. Jest prints its summary after all
 * reporters, so the line is printed at process exit. A lane of run-lanes.mjs gets the numbers and the failed files instead.
 */
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests
    // A file that fails to load has no tests, so it counts as one failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const files = results.testResults.flatMap(({ testFilePath, numFailingTests, testExecError }) =>
      numFailingTests > 0 || testExecError != null ? [testFilePath] : [],
    )
    if (process.send !== undefined) process.send({ passed, failed, files })
    else process.once('exit', () => process.stderr.write(`\n${passed} passed, ${failed} failed\n`))
  }
}
