import { gatherLines, type Line, openOutput } from './standard-output.ts'

const info = (text: string): Line => ({ text, isUrgent: false })
const warning = (text: string): Line => ({ text, isUrgent: true })

test('the exit of the process writes the gathered lines', () => {
  const written: string[] = []
  const lines = gatherLines({
    write: (gathered) => void written.push(...gathered.map(({ text }) => text)),
    flush: () => void written.push('flushed'),
  })
  lines.add(info('one'))
  lines.add(info('two'))
  expect(written).toEqual([])
  // Only its own listener: others may end this process.
  const atExit = process.listeners('exit').at(-1)
  atExit?.(0)
  expect(written).toEqual(['one', 'two', 'flushed'])
})

test('a warning is written immediately, after the lines before it', () => {
  const written: string[] = []
  const lines = gatherLines({
    write: (gathered) => void written.push(...gathered.map(({ text }) => text)),
    flush: () => {},
  })
  lines.add(info('before'))
  lines.add(warning('important'))
  expect(written).toEqual(['before', 'important'])
})

/** A log of 100 bytes for each kind of line, whose reader the test controls. */
function outputUnderTest() {
  jest.useFakeTimers()
  const state = { failure: undefined as string | undefined, takes: Number.POSITIVE_INFINITY, read: '' }
  const output = openOutput(1, {
    write: (_fd, bytes) => {
      if (state.failure !== undefined) throw Object.assign(new Error(state.failure), { code: state.failure })
      const taken = (bytes as Buffer).toString().slice(0, state.takes)
      state.read += taken
      return taken.length
    },
    max: { urgent: 100, other: 100 },
  })
  const told: number[] = []
  const count = { dropped: 0 }
  output.onDrop({ dropped: () => void (count.dropped += 1), back: (lines) => void told.push(lines) })
  return { state, output, told, count }
}

afterEach(() => {
  jest.useRealTimers()
})

test.each(['EAGAIN', 'ENOSPC', 'EPIPE'])(
  'lines beyond the bound are dropped and counted during %s, and warnings go first afterwards',
  (failure) => {
    const { state, output, told, count } = outputUnderTest()
    output.write([info('before')])
    state.failure = failure
    for (let n = 0; n < 30; n++) output.write([info(`line ${n}!`.padEnd(9))])
    output.write([warning('important')])
    jest.advanceTimersByTime(60_000)
    expect([state.read, count.dropped, told]).toEqual(['before\n', 19, []])
    state.failure = undefined
    jest.advanceTimersByTime(1_000)
    const lines = state.read
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd())
    expect(lines).toHaveLength(13)
    expect(lines.toSorted()).toContain('line 9!')
    expect(lines.indexOf('important')).toBeLessThan(lines.indexOf('line 1!'))
    expect(told).toEqual([19])
    output.write([info('after')])
    expect(state.read.endsWith('\nafter\n')).toBe(true)
  },
)

test('lines that are written in part are continued, in their order', () => {
  const { state, output, told } = outputUnderTest()
  state.takes = 3
  output.write([info('one'), warning('two'), info('three')])
  expect([state.read, told]).toEqual(['one\ntwo\nthree\n', []])
})
