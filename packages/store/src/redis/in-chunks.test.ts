import { inChunks } from './in-chunks.ts'

test('every item is read once, in order, and few at the same time', async () => {
  const items = Array.from({ length: 100 }, (_, item) => item)
  let [running, most] = [0, 0]
  const read = async (item: number): Promise<number> => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running -= 1
    return -item
  }
  expect(await inChunks(items, read)).toEqual(items.map((item) => -item))
  expect(most).toBe(32)
})

test('the first error ends the reads', async () => {
  let reads = 0
  const read = async (): Promise<void> => {
    reads += 1
    throw new Error('away')
  }
  await expect(inChunks(Array(100).fill(0), read)).rejects.toThrow('away')
  expect(reads).toBe(32)
})
