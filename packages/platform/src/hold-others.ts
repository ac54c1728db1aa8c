import { type CallId, CallState, type CommandId, uuidV5 } from '@switchhook/contracts'
import type { LegReport, TalkCommand } from './platform.ts'

/** A hold that `answer` or `resume` issues for another call. */
export interface HoldFirst {
  readonly kind: 'hold'
  readonly callId: CallId
  readonly agentUri: string
  /** Of the command that issues the hold; reports name it. */
  readonly commandId: CommandId
  /**
   * Recognises a repeated hold. It differs from the command's id, because both calls can be in one group, where the
   * command itself would then count as a repeat.
   */
  readonly repeatId: CommandId
}

/**
 * Holds the agent's other connected calls (`holdFirst`).
 * @returns false if one of them is still connected, so the command must fail
 */
export async function holdOthers(
  { agentUri, commandId, holdFirst }: TalkCommand,
  hold: (step: HoldFirst) => Promise<unknown>,
  legsOf: (callId: CallId) => Promise<readonly LegReport[]>,
): Promise<boolean> {
  for (const callId of holdFirst) {
    const repeatId = uuidV5(commandId, `hold ${callId}`) as CommandId
    await hold({ kind: 'hold', callId, agentUri, commandId, repeatId })
    const leg = (await legsOf(callId)).find((one) => one.agentUri === agentUri)
    if (leg?.state === CallState.connected) return false
  }
  return true
}
