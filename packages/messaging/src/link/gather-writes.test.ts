import { Writable } from 'node:stream'
import { gatherWrites } from './connect.ts'

/** Records the chunks of each write that reaches the system. */
function recordingStream(options: { readonly highWaterMark?: number } = {}) {
  const sent: string[][] = []
  const stream = new Writable({
    ...options,
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      sent.push([chunk])
      done()
    },
    writev: (chunks, done) => {
      sent.push(chunks.map(({ chunk }: { chunk: string }) => chunk))
      done()
    },
  })
  gatherWrites(stream)
  return { stream, sent }
}

const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))

test('the writes of one tick are sent together, in order', async () => {
  const { stream, sent } = recordingStream()
  stream.write('a')
  stream.write('b')
  stream.write('c')
  expect(sent).toEqual([])
  await nextTick()
  expect(sent).toEqual([['a', 'b', 'c']])
  stream.write('d')
  await nextTick()
  expect(sent.flat()).toEqual(['a', 'b', 'c', 'd'])
})

test('a full stream reports it and drains at the end of the tick', async () => {
  const { stream, sent } = recordingStream({ highWaterMark: 2 })
  const drained = new Promise<void>((resolve) => {
    stream.once('drain', resolve)
  })
  expect(stream.write('a')).toBe(true)
  expect(stream.write('b')).toBe(false)
  await drained
  expect(sent).toEqual([['a', 'b']])
})

test('what was written before the end of the stream is sent', async () => {
  const { stream, sent } = recordingStream()
  const finished = new Promise<void>((resolve) => {
    stream.once('finish', resolve)
  })
  stream.write('a')
  stream.end('b')
  await finished
  expect(sent.flat()).toEqual(['a', 'b'])
})
