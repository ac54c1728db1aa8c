import { newCallId } from '@switchhook/contracts'
import { parseCommand, runCommand, type UnknownChannelsCommand } from './unknown-channels-command.ts'

const parsed = (words: string): UnknownChannelsCommand => parseCommand(words.split(' ').filter((word) => word !== ''))

test.each<[string, UnknownChannelsCommand]>([
  ['list', { name: 'list' }],
  ['remove a b', { name: 'remove', ids: ['a', 'b'] }],
  ['remove all', { name: 'remove', ids: null }],
])('%j is the command %j', (words, command) => {
  expect(parsed(words)).toEqual(command)
})

const WRONG = 'expected list, remove <id>… or remove all'

test.each([
  ['remove', WRONG],
  ['list a', WRONG],
  ['', WRONG],
  // Silently ignored, it would end more channels than the operator wants.
  ['remove all --limit 1', '--limit is not an option of this command'],
])('%j is refused', (words, problem) => {
  expect(() => parsed(words)).toThrow(problem)
})

const sessionId = newCallId()
const unknown = ['one', 'two'].map((id) => ({
  id,
  isTalking: false,
  session: { tenant: 'acme', sessionId },
  channel: {
    id,
    name: `PJSIP/${id}`,
    state: 'Up',
    creationtime: '2026-01-01T00:00:00.000+0000',
    caller: { name: '', number: '8101' },
    dialplan: { app_name: 'Stasis', app_data: 'switchhook' },
  },
}))

async function run(command: UnknownChannelsCommand) {
  const [removed, lines]: [string[], string[]] = [[], []]
  const remove = async ({ id }: { readonly id: string }) => void removed.push(id)
  await runCommand(command, { list: async () => unknown, remove }, (line) => void lines.push(line))
  return { removed, lines: lines.map((line) => JSON.parse(line) as unknown) }
}

test('list shows each channel and removes none', async () => {
  const { removed, lines } = await run({ name: 'list' })
  expect(removed).toEqual([])
  expect(lines).toHaveLength(2)
  expect(lines[0]).toEqual({
    id: 'one',
    name: 'PJSIP/one',
    state: 'Up',
    isTalking: false,
    since: '2026-01-01T00:00:00.000+0000',
    caller: '8101',
    callId: sessionId,
    tenant: 'acme',
  })
})

test('remove ends the named channels, or all', async () => {
  expect((await run({ name: 'remove', ids: ['two'] })).removed).toEqual(['two'])
  expect((await run({ name: 'remove', ids: null })).removed).toEqual(['one', 'two'])
})

test('remove refuses a channel that may belong to a stored call, before it removes any', async () => {
  const command = { name: 'remove', ids: ['one', 'live'] } as const
  await expect(run(command)).rejects.toThrow('not an unknown channel: live')
})
