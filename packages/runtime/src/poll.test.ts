import { startPoll } from './poll.ts'

const HOUR_MS = 3_600_000

/** Work whose runs end when the test says so. */
function controlled() {
  const ends: (() => void)[] = []
  const started: (() => void)[] = []
  let runs = 0
  return {
    work: async () => {
      runs += 1
      started.shift()?.()
      await new Promise<void>((resolve) => ends.push(resolve))
    },
    end: () => ends.shift()?.(),
    runs: () => runs,
    begun: () => new Promise<void>((resolve) => started.push(resolve)),
  }
}

test('work is repeated after a pause, and never overlaps', async () => {
  let [runs, most, running] = [0, 0, 0]
  await new Promise<void>((resolve) => {
    const poll = startPoll(1, async () => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running -= 1
      if (++runs === 5) void poll.stop().then(resolve)
    })
  })
  expect([runs, most, running]).toEqual([5, 1, 0])
})

test('a wake ends the pause; a wake during the work skips the next pause', async () => {
  const { work, end, runs, begun } = controlled()
  const poll = startPoll(HOUR_MS, work)
  const first = begun()
  poll.wake()
  await first
  const second = begun()
  poll.wake()
  end()
  await second
  expect(runs()).toBe(2)
  const stopped = poll.stop()
  end()
  await stopped
})

test('the work may choose its next pause', async () => {
  let runs = 0
  await new Promise<void>((resolve) => {
    const poll = startPoll(HOUR_MS, async () => {
      if (++runs === 2) void poll.stop().then(resolve)
      return 0
    })
    poll.wake()
  })
})

test('a wake during the work does not skip a pause that the work chooses, as a backoff must not be shortened', async () => {
  let runs = 0
  const chosen = new Promise<void>((resolve) => {
    const poll = startPoll(HOUR_MS, async () => {
      if (++runs === 1) poll.wake()
      setImmediate(() => setImmediate(() => void poll.stop().then(resolve)))
      return HOUR_MS
    })
    poll.wake()
  })
  await chosen
  expect(runs).toBe(1)
})

test('stopping waits for the run in progress and begins no other', async () => {
  const { work, end, runs, begun } = controlled()
  const poll = startPoll(HOUR_MS, work)
  const first = begun()
  poll.wake()
  await first
  let isStopped = false
  const stopped = poll.stop().then(() => (isStopped = true))
  await new Promise(setImmediate)
  expect(isStopped).toBe(false)
  end()
  await stopped
  expect(runs()).toBe(1)
})

test('a stopped pause begins no work', async () => {
  const poll = startPoll(HOUR_MS, () => Promise.reject(new Error('must not run')))
  await poll.stop()
})

test('of several failures in a row, the first is reported, and the poll continues', async () => {
  const fails = [true, true, false, true]
  const reported: number[] = []
  const stopped = Promise.withResolvers<void>()
  const poll = startPoll(
    1,
    async () => {
      if (fails.length === 0) return void poll.stop().then(stopped.resolve)
      if (fails.shift() === true) throw new Error('away')
    },
    () => void reported.push(fails.length),
  )
  await stopped.promise
  expect(reported).toEqual([3, 0])
})

test('a stop during the work ends the poll, whatever pause the work chooses', async () => {
  await new Promise<void>((resolve) => {
    const poll = startPoll(HOUR_MS, async () => {
      void poll.stop().then(resolve)
      return HOUR_MS
    })
    poll.wake()
  })
})
