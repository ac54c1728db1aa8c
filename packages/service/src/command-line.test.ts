import { runCommandLine } from './command-line.ts'

const parse = (words: readonly string[]): readonly string[] => {
  if (words.length === 0) throw new Error('expected a word')
  return words
}

/** What a command line prints, its errors included, and the exit code. */
async function ran(args: readonly string[], run = async (): Promise<void> => {}) {
  const printed: string[] = []
  const note = (text: unknown): boolean => printed.push(String(text)) > 0
  const spies = [process.stdout, process.stderr].map((stream) => jest.spyOn(stream, 'write').mockImplementation(note))
  const { exitCode } = process
  runCommandLine(args, 'usage: word', parse, run)
  await new Promise(setImmediate)
  const ended = { printed: printed.join(''), exitCode: process.exitCode }
  process.exitCode = exitCode
  for (const spy of spies) spy.mockRestore()
  return ended
}

test.each([
  [['--help'], 'usage: word\n', undefined],
  [['word', '-h'], 'usage: word\n', undefined],
  [[], 'expected a word\nusage: word\n', 2],
])('%j prints the usage', async (args, printed, exitCode) => {
  expect(await ran(args)).toEqual({ printed, exitCode })
})

test('a command that fails says why', async () => {
  const failing = async (): Promise<void> => {
    throw new Error('the broker is away')
  }
  expect(await ran(['word'], failing)).toEqual({ printed: 'the broker is away\n', exitCode: 1 })
})

test('a command that fails names the cause', async () => {
  const failing = async (): Promise<void> => {
    throw new Error('RabbitMQ cannot be reached', { cause: new Error('403 (ACCESS-REFUSED)') })
  }
  const printed = 'RabbitMQ cannot be reached: 403 (ACCESS-REFUSED)\n'
  expect(await ran(['word'], failing)).toEqual({ printed, exitCode: 1 })
})
