import {
  type AgentStep,
  answerOf,
  applyAgentStep,
  type CallGroup,
  type CallStep,
  type DeviceState,
  Draft,
  type DraftContext,
  deviceOffline,
  ENDINGS,
  otherParty,
  remote,
  ringOut,
  route,
  routeTransfer,
  type StepResult,
  stopRinging,
  targetAnswered,
  targetFailed,
} from '@switchhook/platform'

export interface StepContext extends Required<Pick<DraftContext, 'at' | 'busyElsewhere'>> {
  /** Of the agent that `agentToRing` names. */
  readonly device: DeviceState
}

/**
 * The rules of the simulated switch: computes the next call group, with its reports, and the steps to schedule. Pure:
 * the same step on the same call group gives the same result. A step that no longer fits (a timer after the hang-up)
 * changes nothing. A command that no longer fits a live leg is reported as failed. A repeated command has no effect.
 */
export function applyStep(group: CallGroup, step: CallStep, context: StepContext): StepResult {
  const { at, busyElsewhere } = context
  const commandId = 'commandId' in step ? step.commandId : null
  const repeatId = ('commandId' in step ? step.repeatId : undefined) ?? commandId
  if (repeatId !== null && group.commands.includes(repeatId)) return { group, scheduled: [] }
  const draft = new Draft(group, { at, commandId, repeatId, busyElsewhere })
  apply(draft, step, context.device)
  return draft.finish()
}

/** The agent whose device this step rings, if it rings one. */
export function agentToRing(group: CallGroup, step: CallStep): string | undefined {
  if (step.kind !== 'route' && step.kind !== 'transfer-route') return undefined
  const call = group.calls[step.callId]
  const party = step.kind === 'route' ? call?.called : call?.transfer?.target
  return party?.kind === 'agent' ? party.agentUri : undefined
}

function apply(draft: Draft, step: CallStep, device: DeviceState): void {
  if (step.kind === 'tell') return
  if (step.kind === 'device-offline') return deviceOffline(draft, step.agentUri)
  if ('agentUri' in step) return applyAgentStep(draft, isRefused(draft, step) ? { ...step, isInVain: true } : step)
  const call = draft.call(step.callId)
  if (call === undefined) return
  if ('begunAt' in step && step.begunAt !== call.transfer?.begunAt) return
  switch (step.kind) {
    case 'route':
      return route(draft, call, device)
    case 'ring-out':
      return ringOut(draft, call)
    case 'remote':
      return remote(draft, call, step.action)
    case 'transfer-route':
      return routeTransfer(draft, call, device)
    case 'transfer-answer':
      return targetAnswered(draft, call)
    case 'transfer-ring-out':
      if (call.transfer?.ringsIn == null) return
      stopRinging(draft, call, 'noAnswer')
      return targetFailed(draft, call, ENDINGS.noAnswer)
  }
}

/** The outside party refuses to be held. */
function isRefused(draft: Draft, { kind, callId, agentUri }: AgentStep): boolean {
  const call = draft.call(callId)
  return kind === 'hold' && call !== undefined && answerOf(otherParty(call, agentUri))?.refusesHold === true
}
