import { fullestOf, parseMemory } from './durability.ts'

test.each([
  ['used_memory:1024\r\nused_memory_human:1K\r\nmaxmemory:4096\r\n', { usedBytes: 1024, maxBytes: 4096 }],
  ['# Memory\r\nused_memory:1024\r\nmaxmemory:0\r\nmaxmemory_human:0B\r\n', { usedBytes: 1024, maxBytes: 0 }],
  ['used_memory:1024\r\n', undefined],
  ['', undefined],
])('INFO memory %j is parsed to %j', (info, expected) => {
  expect(parseMemory(info)).toEqual(expected)
})

test('the fullest of several nodes is chosen, but a node without a limit comes first', () => {
  const [half, most] = [
    { usedBytes: 500, maxBytes: 1_000 },
    { usedBytes: 900, maxBytes: 1_000 },
  ]
  expect(fullestOf([half, most])).toEqual(most)
  expect(fullestOf([half, { usedBytes: 1, maxBytes: 0 }, most])).toEqual({ usedBytes: 1, maxBytes: 0 })
  expect(fullestOf([])).toBeUndefined()
})
