import { runCommand } from './run-command.ts'

test('a command that ignores SIGTERM, and whose child keeps its output open, ends after its time', async () => {
  const script = "trap '' TERM; echo begun; sleep 60 & wait"
  const beganAt = performance.now()
  const result = await runCommand('sh', ['-c', script], { timeoutMs: 500 })
  expect(result).toEqual({ ok: false, stdout: 'begun\n', output: 'begun\n' })
  expect(performance.now() - beganAt).toBeLessThan(30_000)
})
