import { GROUPS } from '../groups.ts'
import { completionScript, completions, SHELLS } from './completion.ts'

test('the first word is a group or a command, the second a command or an option', () => {
  const words = completions(GROUPS)
  expect(words.get('')).toEqual(expect.arrayContaining(['login', 'calls', 'doctor', 'explain']))
  expect(words.get('calls')).toEqual(['list', 'dial', 'answer', 'hold', 'resume', 'transfer', 'hangup'])
  expect(words.get('calls transfer')).toEqual(['--blind', '--agent', '--json', '--profile', '--help'])
  expect(words.get('recover')).toContain('--dry-run')
})

test.each(SHELLS)('%s gets every command', (shell) => {
  const script = completionScript(shell, GROUPS)
  for (const words of completions(GROUPS).values()) for (const word of words) expect(script).toContain(word)
})

test('every command says what it does, in words that no other command has', () => {
  const summaries = GROUPS.flatMap(({ commands }) => commands.map(({ summary }) => summary))
  expect(new Set(summaries).size).toBe(summaries.length)
  expect(summaries.filter((summary) => summary === '' || summary.includes('"'))).toEqual([])
})
