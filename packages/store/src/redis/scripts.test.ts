import { loadScripts } from './scripts.ts'

test.each(Object.entries(loadScripts()))('the header of %s names its KEYS, ARGV and result', (_name, { lua }) => {
  const lines = lua.split('\n')
  const code = lines.filter((line) => !line.startsWith('--')).join('\n')
  const has = (word: string): boolean => lines.some((line) => line.startsWith(`-- ${word.padEnd(8)}`))
  expect(has('KEYS')).toBe(true)
  expect(has('ARGV')).toBe(code.includes('ARGV'))
  expect(has('result')).toBe(true)
})
