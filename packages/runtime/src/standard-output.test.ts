import { gatherLines } from './standard-output.ts'

test('the exit of the process writes the gathered lines', () => {
  const written: string[] = []
  const lines = gatherLines({ write: (text) => void written.push(text), flush: () => void written.push('flushed') })
  lines.add('one')
  lines.add('two')
  expect(written).toEqual([])
  // Only its own listener: others may end this process.
  const atExit = process.listeners('exit').at(-1)
  atExit?.(0)
  expect(written).toEqual(['one\ntwo\n', 'flushed'])
})
