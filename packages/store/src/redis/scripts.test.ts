import { loadScripts } from './scripts.ts'

/** Its only `return` with a value passes on an error of Redis. */
const WITHOUT_RESULT = 'state/take-back-events'

test.each(Object.entries(loadScripts()))('the header of %s names its KEYS, ARGV and result', (name, { lua }) => {
  const lines = lua.split('\n')
  const code = lines.filter((line) => !line.startsWith('--')).join('\n')
  const has = (word: string): boolean => lines.some((line) => line.startsWith(`-- ${word.padEnd(8)}`))
  expect(has('KEYS')).toBe(true)
  expect(has('ARGV')).toBe(code.includes('ARGV'))
  // Not the prelude, which is one line that begins with a space, and not the script's own functions.
  const body = code.replace(/^ local function .*$/m, '').replaceAll(/^( *)local function .*?^\1end$/gms, '')
  const returnsValue = /\breturn (?!end\b)\S/.test(body)
  expect(has('result')).toBe(returnsValue && name !== WITHOUT_RESULT)
})
