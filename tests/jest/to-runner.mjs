/** Tells the runner of `make test` (tests/runner) what happens in this process. Its messages are `Message` there. */
export default class ToRunner {
  onRunStart({ numTotalTestSuites: files }) {
    send({ kind: 'begun', files })
  }

  onTestFileStart({ path }) {
    send({ kind: 'file', path })
  }

  onTestCaseStart(_test, { fullName: name }) {
    send({ kind: 'test', name })
  }

  onTestFileResult({ path }, result) {
    const { numPassingTests, numFailingTests, numPendingTests, perfStats, failureMessage, testExecError } = result
    send({
      kind: 'ended',
      path,
      passed: numPassingTests,
      // A file that fails to load has no tests, so it counts as one failure.
      failed: numFailingTests + (testExecError == null ? 0 : 1),
      skipped: numPendingTests,
      ms: perfStats.end - perfStats.start,
      failure: failureMessage ?? '',
    })
  }

  onRunComplete() {
    send({ kind: 'complete' })
  }
}

let number = 0

/** What child processes print before and after is told apart by the mark in the text (tests/runner/src/in-order.ts). */
function send(message) {
  if (process.send === undefined) return
  number += 1
  process.stderr.write(`\u001E${number}\n`)
  process.send({ number, ...message })
}
