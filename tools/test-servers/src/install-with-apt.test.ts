import { whenUnlocked } from './install-with-apt.ts'
import type { CommandResult } from './process/run-command.ts'

const LOCKED =
  'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr)\n' +
  'E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?'
const failed = (output: string): CommandResult => ({ ok: false, stdout: '', output })
const ok: CommandResult = { ok: true, stdout: '', output: '' }

/** Runs through the results, and then repeats the last one. */
async function run(results: readonly CommandResult[], patienceMs = 10_000) {
  const said: string[] = []
  let runs = 0
  const next = async (): Promise<CommandResult> => results[Math.min(runs++, results.length - 1)] ?? ok
  const result = await whenUnlocked(next, (line) => said.push(line), { retryMs: 1, patienceMs })
  return { result, runs, said }
}

test.each([
  ['dpkg', LOCKED],
  ['the lists', 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 9 (apt-get)'],
])('an installation waits while another program holds the lock of %s, and says so once', async (_name, output) => {
  const { result, runs, said } = await run([failed(output), failed(output), ok])
  expect([result, runs]).toEqual([ok, 3])
  expect(said).toEqual(['… another program is installing packages; waiting until it releases the lock of apt'])
})

test('another failure is not repeated', async () => {
  const missing = failed('E: Unable to locate package rabbitmq-server')
  expect(await run([missing, ok])).toEqual({ result: missing, runs: 1, said: [] })
})

test('a lock that is never released ends the wait', async () => {
  const { result } = await run([failed(LOCKED)], 20)
  expect(result).toEqual(failed(LOCKED))
})
