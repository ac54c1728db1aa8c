import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { answerWithin, runningMs, startDeadline } from './deadline.ts'

/** A thread that answers each message after the delay that the message states, whatever this thread does. */
let peer: Worker

beforeAll(async () => {
  peer = new Worker(
    `const { parentPort } = require('node:worker_threads')
     parentPort.on('message', ({ id, delayMs }) => setTimeout(() => parentPort.postMessage(id), delayMs))
     parentPort.postMessage('up')`,
    { eval: true },
  )
  await once(peer, 'message')
})

afterAll(() => peer.terminate())

function ask(id: string, delayMs: number): Promise<string> {
  const answer = new Promise<string>((resolve) => {
    peer.on('message', function take(answered: string) {
      if (answered !== id) return
      peer.off('message', take)
      resolve(answered)
    })
  })
  // oxlint-disable-next-line require-post-message-target-origin -- a thread, not a window
  peer.postMessage({ id, delayMs })
  return answer
}

const passing = (ms: number): Promise<number> => {
  const startedAt = performance.now()
  return new Promise((resolve) => void startDeadline(ms, () => resolve(performance.now() - startedAt)))
}

/** Nothing else runs in this thread meanwhile, as if the process had been stopped. */
const stall = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('an answer that arrived in time is taken, although the process stalled beyond the deadline', async () => {
  const answers = Array.from({ length: 10 }, (_, n) => answerWithin(200, ask(`in time ${n}`, 20), 'late'))
  await turn()
  stall(600)
  await expect(Promise.all(answers)).resolves.toHaveLength(10)
})

test('an answer that arrived during a stall is read before its deadline passes, at the first turn after the stall', async () => {
  // Timers run first after an immediate, and sockets are polled after the timers.
  await turn()
  const answer = answerWithin(1, ask('during the stall', 0), 'late')
  stall(600)
  await expect(answer).resolves.toBe('during the stall')
})

test('an answer that needs several iterations of the event loop has the rest of its time after a stall', async () => {
  const answer = (async () => {
    for (let step = 0; step < 5; step++) await ask(`step ${step}`, 5)
    return 'all steps'
  })()
  const inTime = answerWithin(300, answer, 'late')
  await turn()
  stall(900)
  await expect(inTime).resolves.toBe('all steps')
})

test('an answer that does not arrive is given up, also after a stall', async () => {
  const silent = answerWithin(100, new Promise(() => {}), 'no answer within 100 ms')
  await turn()
  stall(300)
  await expect(silent).rejects.toThrow('no answer within 100 ms')
})

test('the running clock follows the time while a deadline runs, and a stall does not move it on', async () => {
  const deadline = startDeadline(60_000)
  const beganMs = runningMs()
  await passing(300)
  const beforeMs = runningMs() - beganMs
  stall(2_000)
  await passing(1)
  const overallMs = runningMs() - beganMs
  deadline.stop()
  expect(beforeMs).toBeGreaterThanOrEqual(250)
  expect(overallMs - beforeMs).toBeLessThanOrEqual(500)
})

test('the error of an answer is passed on', async () => {
  await expect(answerWithin(1_000, Promise.reject(new Error('refused')), 'late')).rejects.toThrow('refused')
})

test.each([0, 1, 50, 120, 333])(
  'a deadline of %i ms does not pass earlier, also when it starts after a stall',
  async (ms) => {
    const passed = [passing(ms)]
    await turn()
    stall(130)
    passed.push(passing(ms))
    stall(70)
    passed.push(passing(ms))
    for (const afterMs of await Promise.all(passed)) expect(afterMs).toBeGreaterThanOrEqual(ms)
  },
)

test('deadlines pass in the order of their ends, and one that was stopped does not', async () => {
  const passed: number[] = []
  const last = new Promise<void>((resolve) => {
    startDeadline(300, () => {
      passed.push(300)
      resolve()
    })
  })
  startDeadline(100, () => passed.push(100))
  const stopped = startDeadline(150, () => passed.push(150))
  startDeadline(200, () => passed.push(200))
  stopped.stop()
  await last
  expect(passed).toEqual([100, 200, 300])
  expect(stopped.hasPassed).toBe(false)
})

test('a deadline runs the action that was set last, once', async () => {
  const actions: string[] = []
  const deadline = startDeadline(60, () => actions.push('first'))
  deadline.whenPassed(() => actions.push('second'))
  expect(deadline.hasPassed).toBe(false)
  await passing(120)
  expect([deadline.hasPassed, actions]).toEqual([true, ['second']])
})
