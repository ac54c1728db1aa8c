import { controlledReads } from '@switchhook/testkit'
import { oneAtATime } from './by-key.ts'

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('calls during a read share the next one, which sees what was written before them', async () => {
  const { read, begun, write, end } = controlledReads()
  const shared = oneAtATime(read)
  const first = shared('a')
  write()
  const [second, third] = [shared('a'), shared('a')]
  await tick()
  expect(begun).toEqual(['a'])
  end()
  expect(await first).toBe(0)
  await tick()
  expect(begun).toEqual(['a', 'a'])
  end()
  expect(await Promise.all([second, third])).toEqual([1, 1])
  const fourth = shared('a')
  end()
  expect(await fourth).toBe(1)
  expect(begun).toEqual(['a', 'a', 'a'])
})

test('a failed read fails its callers only', async () => {
  const { read, begun, end } = controlledReads()
  const shared = oneAtATime(read)
  const first = shared('a')
  const second = shared('a')
  end(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await tick()
  expect(begun).toHaveLength(2)
  end()
  expect(await second).toBe(0)
})
