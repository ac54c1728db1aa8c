import { CallState, type CommandId, type Tenant, uuidV5 } from '@switchhook/contracts'
import type { AgentStep, Party } from '../call-rules/call-group.ts'
import type { LegCommand, Platform, TalkCommand } from '../platform.ts'

/** The port's commands on a leg, as steps of its agent. */
export function legCommands<Callee extends Party>({
  apply,
  legsOf,
  partyOf,
}: {
  /** False: there is no such call. */
  readonly apply: (command: LegCommand, step: AgentStep<Callee>) => Promise<boolean>
  readonly legsOf: Platform['lookUp']
  readonly partyOf: (tenant: Tenant, address: string) => Callee | Promise<Callee>
}): Pick<Platform, 'answer' | 'resume' | 'hangup' | 'hold' | 'completeTransfer' | 'transfer'> {
  /** Holds the agent's other connected calls. False: one of them is still connected, so the command must fail. */
  async function holdOthers(command: TalkCommand): Promise<boolean> {
    const { tenant, agentUri, commandId } = command
    for (const callId of command.holdFirst) {
      // Not the command's id: both calls can be in one group, where the command itself would then count as a repeat.
      const repeatId = uuidV5(commandId, `hold ${callId}`) as CommandId
      await apply({ ...command, callId }, { kind: 'hold', callId, agentUri, commandId, repeatId })
      const leg = (await legsOf(tenant, callId)).find((one) => one.agentUri === agentUri)
      if (leg?.state === CallState.connected) return false
    }
    return true
  }

  const plain = (kind: 'hangup' | 'hold') => (command: LegCommand) => apply(command, { kind, ...legOf(command) })
  const talk = (kind: 'answer' | 'resume') => async (command: TalkCommand) =>
    apply(command, { kind, isInVain: !(await holdOthers(command)), ...legOf(command) })

  return {
    answer: talk('answer'),
    resume: talk('resume'),
    hangup: plain('hangup'),
    hold: plain('hold'),
    completeTransfer: ({ correlationId, ...command }) =>
      apply(command, { kind: 'completeTransfer', ...legOf(command), correlationId }),
    async transfer(command) {
      const { correlationId, consultationCallId, target: asked } = command
      const target = { ...(await partyOf(command.tenant, asked)), asked }
      return apply(command, { kind: 'transfer', ...legOf(command), correlationId, consultationCallId, target })
    },
  }
}

const legOf = ({ callId, agentUri, commandId }: LegCommand) => ({ callId, agentUri, commandId })
