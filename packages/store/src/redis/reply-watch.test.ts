import { type ReplyWatch, type WatchedConnection, watchReplies } from './replies.ts'

const LIMITS = { replyMs: 200, silenceMs: 1_000, checkEveryMs: 20 }
const watches: ReplyWatch[] = []

// For the whole file: deadlines share one timer, which goes on from test to test.
beforeAll(() => void jest.useFakeTimers())
afterAll(() => void jest.useRealTimers())

afterEach(() => {
  for (const watch of watches.splice(0)) watch.stop()
})

/** A connection whose socket counts its calls; the test says how many bytes were read. */
function aConnection(status: WatchedConnection['status'] = 'ready') {
  const stream = { bytesRead: 0, corks: 0, uncorks: 0, destroyed: 0 }
  const connection = {
    status,
    stream: Object.assign(stream, {
      cork: () => void (stream.corks += 1),
      uncork: () => void (stream.uncorks += 1),
      destroy: () => void (stream.destroyed += 1),
    }),
  }
  const watch = watchReplies(connection as unknown as WatchedConnection, LIMITS)
  watches.push(watch)
  return { stream, watch, connection }
}

const never = (): Promise<never> => new Promise(() => {})
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms)
const nextIteration = (): Promise<void> => pass(0)

test('the commands of one iteration of the event loop share one write', async () => {
  const { stream, watch } = aConnection()
  const replies = [watch.send(async () => 1), watch.send(async () => 2)]
  expect([stream.corks, stream.uncorks]).toEqual([1, 0])
  expect(await Promise.all(replies)).toEqual([1, 2])
  await nextIteration()
  expect(stream.uncorks).toBe(1)
  void watch.send(async () => 3)
  expect(stream.corks).toBe(2)
})

test('a new socket in the same iteration is corked too, and both are uncorked', async () => {
  const { stream, watch, connection } = aConnection()
  const other = aConnection()
  void watch.send(async () => 1)
  connection.stream = other.stream as typeof connection.stream
  void watch.send(async () => 2)
  await nextIteration()
  expect([stream.corks, stream.uncorks, other.stream.corks, other.stream.uncorks]).toEqual([1, 1, 1, 1])
})

test('each caller waits at most for its limit, and a late reply is dropped', async () => {
  const { watch } = aConnection()
  let reply = (_value: string): void => {}
  const late = watch.send(() => new Promise<string>((resolve) => (reply = resolve)))
  await Promise.all([expect(late).rejects.toThrow('Redis did not reply in time'), pass(LIMITS.silenceMs)])
  reply('late')
  await expect(watch.send(async () => 'next')).resolves.toBe('next')
})

test('the error of a command is passed on, and leaves nothing to wait for', async () => {
  const { stream, watch } = aConnection()
  await expect(watch.send(() => Promise.reject(new Error('WRONGTYPE')))).rejects.toThrow('WRONGTYPE')
  await pass(LIMITS.silenceMs * 2)
  expect(stream.destroyed).toBe(0)
})

test('a connection that stays silent while a reply is due is dropped, also after the caller has given up', async () => {
  const { stream, watch } = aConnection()
  await Promise.all([expect(watch.send(never)).rejects.toThrow('in time'), pass(LIMITS.replyMs * 2)])
  expect(stream.destroyed).toBe(0)
  await pass(LIMITS.silenceMs)
  expect(stream.destroyed).toBeGreaterThan(0)
})

test('a connection that answers others is kept, however long one reply takes', async () => {
  const { stream, watch } = aConnection()
  const answering = setInterval(() => (stream.bytesRead += 1), 1)
  await Promise.all([expect(watch.send(never)).rejects.toThrow('in time'), pass(LIMITS.silenceMs * 3)])
  clearInterval(answering)
  expect(stream.destroyed).toBe(0)
})

test('a handshake without an answer is dropped, although no caller waits', async () => {
  const { stream } = aConnection('connect')
  await pass(LIMITS.silenceMs * 2)
  expect(stream.destroyed).toBeGreaterThan(0)
})
