import { controlledReads } from '@switchhook/testkit'
import { oncePerTick, oneAtATime } from './shared-reads.ts'

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('the calls of one tick share a read of their keys, and later calls begin another', async () => {
  const { read, begun, write, end } = controlledReads()
  const shared = oncePerTick(async (keys: readonly string[]) => {
    const value = await read(keys.join(' '))
    return keys.map((key) => `${key}${value}`)
  })
  const first = [shared('a'), Promise.resolve().then(() => shared('b')), shared('a')]
  await tick()
  expect(begun).toEqual(['a b'])
  write()
  const later = shared('a')
  await tick()
  expect(begun).toEqual(['a b', 'a'])
  for (const _ of begun) end()
  expect(await Promise.all([...first, later])).toEqual(['a0', 'b0', 'a0', 'a1'])
})

test('calls of several ticks share a read that begins at the end of the iteration of the event loop', async () => {
  const begun: (readonly string[])[] = []
  const shared = oncePerTick(async (keys: readonly string[]) => {
    begun.push(keys)
    return keys
  }, setImmediate)
  const first = shared('a')
  await new Promise<void>((resolve) => process.nextTick(resolve))
  expect(await Promise.all([first, shared('b')])).toEqual(['a', 'b'])
  expect(begun).toEqual([['a', 'b']])
})

test('a failed read of several keys fails all callers of its tick, and no later ones', async () => {
  const { read, begun, end } = controlledReads()
  const shared = oncePerTick(async (keys: readonly string[]) => {
    const value = await read(keys.join(' '))
    return keys.map(() => value)
  })
  const failed = Promise.allSettled([shared('a'), shared('b')])
  await tick()
  end(new Error('away'))
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const later = shared('a')
  await tick()
  end()
  expect(await later).toBe(0)
  expect(begun).toEqual(['a b', 'a'])
})

test('a key that is read on its own fails its own callers only, and no other caller waits for it', async () => {
  const { read, end } = controlledReads()
  const shared = oncePerTick(async (keys: readonly string[]) => keys.map((key) => (key === 'slow' ? read(key) : 0)))
  const slow = shared('slow').catch((error: Error) => error.message)
  expect(await shared('b')).toBe(0)
  end(new Error('away'))
  expect(await slow).toBe('away')
})

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

test('a failed read of one key fails its callers only', async () => {
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
