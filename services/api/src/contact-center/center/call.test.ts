import {
  CALL_COMMANDS,
  CommandNumber,
  type CommandResult,
  callStatusSchema,
  compileSchema,
  newCommandId,
} from '@switchhook/contracts'
import { currentSnapshot } from './call.ts'

const [example] = callStatusSchema.examples
if (example === undefined) throw new Error('the schema has an example')
const commandId = newCommandId()

const storedWith = (command: unknown) =>
  ({ ...example, commandResult: { commandId, command, result: 2, reason: 7 } }) as unknown as Parameters<
    typeof currentSnapshot
  >[0]

test.each(CALL_COMMANDS)(
  'a snapshot that an earlier version stored with the command %s is shown with the number of the command',
  (name) => {
    const shown = currentSnapshot(storedWith(name))
    expect(shown.commandResult).toEqual({ commandId, command: CommandNumber[name], result: 2, reason: 7 })
    expect(compileSchema(callStatusSchema)(shown).ok).toBe(true)
  },
)

test.each<CommandResult['command'] | null>([4, 0, null])('a snapshot of this version is unchanged: %s', (command) => {
  const stored = command === null ? (example as Parameters<typeof currentSnapshot>[0]) : storedWith(command)
  expect(currentSnapshot(stored)).toEqual(stored)
})

test('an unknown command is shown as 0', () => {
  expect(currentSnapshot(storedWith('park')).commandResult?.command).toBe(CommandNumber.unknown)
})
