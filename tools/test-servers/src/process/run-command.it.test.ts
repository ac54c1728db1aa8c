import { runCommand } from './run-command.ts'

test('a command that ignores SIGTERM, and whose child keeps its output open, ends after its time', async () => {
  const script = "trap '' TERM; sleep 60 & echo $!; wait"
  const beganAt = performance.now()
  const result = await runCommand('sh', ['-c', script], { timeoutMs: 500 })
  process.kill(Number(result.stdout), 'SIGKILL')
  expect(result).toEqual({ ok: false, stdout: expect.stringMatching(/^\d+\n$/) as string, output: result.stdout })
  expect(performance.now() - beganAt).toBeLessThan(30_000)
})
