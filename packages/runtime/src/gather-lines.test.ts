import { setTimeout as delay } from 'node:timers/promises'
import { type GatheredLines, gatherLines } from './gather-lines.ts'

const open = (): { lines: GatheredLines; written: string[] } => {
  const written: string[] = []
  const lines = gatherLines({ write: (text) => written.push(text) })
  return { lines, written }
}

test('lines of one moment are written together, in their order', async () => {
  const { lines, written } = open()
  lines.add('a')
  lines.add('b')
  expect(written).toEqual([])
  while (written.length === 0) await delay(1)
  expect(written).toEqual(['a\nb\n'])
  lines.add('c')
  while (written.length === 1) await delay(1)
  expect(written).toEqual(['a\nb\n', 'c\n'])
})

test('a flush writes at once, and nothing twice', async () => {
  const { lines, written } = open()
  lines.add('a')
  lines.flush()
  lines.flush()
  await delay(10)
  expect(written).toEqual(['a\n'])
})

test('many lines do not wait', () => {
  const { lines, written } = open()
  const line = 'x'.repeat(1_000)
  for (let n = 0; n < 200; n++) lines.add(line)
  expect(written).toHaveLength(3)
  lines.flush()
  expect(written.join('')).toBe(`${line}\n`.repeat(200))
})

test('the exit of the process writes the rest', () => {
  const { lines, written } = open()
  lines.add('last')
  process.emit('exit', 0)
  expect(written).toEqual(['last\n'])
})
