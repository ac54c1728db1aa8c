import { setTimeout as delay } from 'node:timers/promises'
import { createBatch } from './batch.ts'

function aBatch(maxWeight: number) {
  const written: number[][] = []
  const batch = createBatch({
    maxWeight,
    weightOf: (item: number) => item,
    write: (items) => written.push([...items]),
  })
  return { batch, written }
}

test('items of one moment are written together, in their order', async () => {
  const { batch, written } = aBatch(100)
  batch.add(1)
  batch.add(2)
  expect(written).toEqual([])
  while (written.length < 1) await delay(1)
  expect(written).toEqual([[1, 2]])
  batch.add(3)
  while (written.length < 2) await delay(1)
  expect(written).toEqual([[1, 2], [3]])
})

test('a flush writes immediately, and nothing twice', () => {
  const { batch, written } = aBatch(100)
  batch.add(1)
  expect([batch.flush(), batch.flush()]).toEqual([1, undefined])
  expect(written).toEqual([[1]])
})

test('items of a large weight do not wait', () => {
  const { batch, written } = aBatch(10)
  for (const item of [4, 4, 4, 4]) batch.add(item)
  expect(written).toEqual([[4, 4, 4]])
  batch.flush()
  expect(written).toEqual([[4, 4, 4], [4]])
})
