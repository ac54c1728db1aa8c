import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { startLateListener } from '@switchhook/testkit'

const door = join(import.meta.dirname, 'index.ts')

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a service with the given source text as its `main`, in a process of its own. */
async function runService(
  main: string,
  onOutput: (
    text: string,
    kill: (signal: NodeJS.Signals) => void,
    child: ChildProcessWithoutNullStreams,
  ) => void = () => {},
  /** Reads nothing from standard output before this is in the error output. */
  readsAfter = '',
): Promise<Ended> {
  const script = `
    import { createLogger, loadConfig, Shutdown, runProcess, url } from ${JSON.stringify(door)}
    runProcess('worker', async () => { ${main} })`
  const child = spawn(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], {
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const output = { stdout: '', stderr: '' }
  const read = (name: 'stdout' | 'stderr'): void =>
    void child[name].on('data', (chunk) => {
      output[name] += String(chunk)
      onOutput(output[name], (signal) => child.kill(signal), child)
    })
  read('stderr')
  while (!output.stderr.includes(readsAfter)) await once(child.stderr, 'data')
  read('stdout')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

const lastJson = (text: string): Record<string, unknown> =>
  JSON.parse(text.split('\n').findLast((line) => line.startsWith('{')) ?? '{}') as Record<string, unknown>

test('wrong configuration ends the process with a list of every problem and no stack', async () => {
  const { code, stderr } = await runService(
    `loadConfig({ A_URL: url(['amqp']), B_URL: url(['redis']) }, { A_URL: 'http://u:secret@h' })`,
  )
  expect(code).toBe(1)
  expect(stderr).toMatch(/^ {2}A_URL must be a URL.*\n {2}B_URL is required$/m)
  expect(lastJson(stderr)).toMatchObject({
    level: 'error',
    service: 'worker',
    message: expect.stringContaining('A_URL'),
  })
  expect(stderr).not.toMatch(/secret|node:internal|at async/)
})

test.each<[string, string]>([
  ['an error at the start', `throw new Error('broken amqp://u:secret@h')`],
  [
    'an unhandled error later',
    `setTimeout(() => { throw new Error('broken amqp://u:secret@h') }, 1); await new Promise(() => {})`,
  ],
  [
    'an unhandled rejection',
    `void Promise.reject(new Error('broken amqp://u:secret@h')); await new Promise((r) => setTimeout(r, 5000))`,
  ],
])('%s ends the process with one line that has the stack and no credentials', async (_case, main) => {
  const { code, stderr } = await runService(main)
  expect(code).toBe(1)
  expect(lastJson(stderr)).toMatchObject({
    message: 'service failed',
    stack: expect.stringContaining('broken amqp://***@h'),
  })
  expect(stderr).not.toContain('secret')
})

const withShutdown = (steps: string) => `
  const log = createLogger('worker', 'info')
  const shutdown = new Shutdown(log, 10_000)
  shutdown.onSignals('SIGTERM', 'SIGINT')
  const timer = setInterval(() => {}, 1000)
  ${steps}
  log.info('up')`

test.each<[string, string]>([
  ['process.exit', `process.exit(0)`],
  ['an exception', `setTimeout(() => { throw new Error('broken') }, 0)`],
  ['having nothing more to do', ''],
])('lines that were logged just before the end are written: %s', async (_end, main) => {
  const { stdout } = await runService(
    `const log = createLogger('worker', 'info')
     for (let n = 0; n < 2_000; n++) log.info('line', { n })
     ${main}`,
  )
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { n: number }).n)
  expect(lines).toEqual(Array.from({ length: 2_000 }, (_, n) => n))
})

test('of two addresses, the one that accepts a connection after a second gets it', async () => {
  const late = await startLateListener()
  const main = `
    const { default: dns } = await import('node:dns')
    const found = [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }]
    dns.lookup = (_name, _options, done) => done(null, found)
    console.log('connecting')
    const answer = await fetch('http://two.example:${late.port}/').catch(({ cause }) => ({ status: cause.code }))
    console.log('answer ' + answer.status)
    process.exit()`
  let isConnecting = false
  const { stdout } = await runService(main, (text) => {
    if (isConnecting || !text.includes('connecting')) return
    isConnecting = true
    // Later than Node.js waits for an address, and before the kernel repeats the SYN.
    setTimeout(() => late.accept(), 500)
  })
  await late.close()
  expect(stdout).toContain('answer 204')
})

test('a reader that is late at the end of the process gets every line', async () => {
  const { stdout } = await runService(
    `const log = createLogger('worker', 'info')
     for (let n = 0; n < 5_000; n++) log.info('line', { n })
     process.stderr.write('ending')
     process.exit(0)`,
    undefined,
    'ending',
  )
  expect(stdout.trim().split('\n')).toHaveLength(5_000)
})

test('once the reader of its log is gone, a process goes on, and ends as it would otherwise', async () => {
  const { code, stderr } = await runService(
    `const log = createLogger('worker', 'info')
     for (let n = 0; n < 100; n++) {
       log.info('x'.repeat(70_000))
       await new Promise((resolve) => setTimeout(resolve, 5))
     }
     process.stderr.write('done')
     process.exit(3)`,
    (_text, _kill, child) => child.stdout.destroy(),
  )
  expect([code, stderr]).toEqual([3, 'done'])
})

test.each(['SIGTERM', 'SIGINT'] as const)('%s closes everything and exits with 0', async (signal) => {
  let sent = false
  const ended = await runService(
    withShutdown(`shutdown.defer('timer', async () => clearInterval(timer))`),
    (text, kill) => {
      if (!sent && text.includes('"up"')) {
        sent = true
        kill(signal)
      }
    },
  )
  expect(ended.code).toBe(0)
  expect(lastJson(ended.stdout)).toMatchObject({ message: 'shut down', clean: true })
})

test('a step that fails makes the process exit with 1', async () => {
  let sent = false
  const ended = await runService(
    withShutdown(`shutdown.defer('x', () => { throw new Error('stuck') })`),
    (text, kill) => {
      if (!sent && text.includes('"up"')) {
        sent = true
        kill('SIGTERM')
      }
    },
  )
  expect(ended.code).toBe(1)
  expect(ended.stdout).toContain('could not close')
})

test('a second signal exits immediately, even if a step hangs', async () => {
  const signals: NodeJS.Signals[] = ['SIGTERM', 'SIGINT']
  const ended = await runService(withShutdown(`shutdown.defer('x', () => new Promise(() => {}))`), (text, kill) => {
    const expected = signals.length === 2 ? '"up"' : 'shutting down'
    const next = signals[0]
    if (next !== undefined && text.includes(expected)) {
      signals.shift()
      kill(next)
    }
  })
  expect(ended.code).toBe(1)
  // The end of the grace period would also exit with 1.
  expect(ended.stdout).not.toContain('could not close')
})
