import { type CallStatus, CommandNumber } from '@switchhook/contracts'

/**
 * A stored snapshot as this version shows it. Versions before wrote `commandResult.command` as text, and a call outlives an
 * upgrade.
 */
export function currentSnapshot(stored: CallStatus): CallStatus {
  const command: unknown = stored.commandResult?.command
  if (stored.commandResult === null || typeof command !== 'string') return stored
  const numbers: Readonly<Record<string, CommandNumber | undefined>> = CommandNumber
  return { ...stored, commandResult: { ...stored.commandResult, command: numbers[command] ?? CommandNumber.unknown } }
}
