import {
  CALL_COMMANDS,
  type CallId,
  CallState,
  type CallStatus,
  callStatusSchema,
  type Tenant,
} from '@switchhook/contracts'
import { allowedCommands, type Platform } from '@switchhook/platform'
import type { EventList, PageQuery } from '@switchhook/store'
import { component, list } from '../../http/schema.ts'
import type { Center } from '../center/center.ts'
import type { ContactCenter } from '../open-contact-center.ts'

export interface LegQuery extends PageQuery {
  readonly agentUri?: string
}

const [example] = callStatusSchema.examples

export const callLegSchema = component('CallLeg', {
  ...callStatusSchema,
  description:
    "One agent's part of a call, exactly as its latest `call.status` event reported it, and the commands that are possible.",
  required: [...callStatusSchema.required, 'allowedCommands'],
  properties: {
    ...callStatusSchema.properties,
    allowedCommands: list(
      'The commands that are possible in this state; empty for an ended leg. While a transfer is in progress, `transfer` is possible to the same target only.',
      { type: 'string', enum: CALL_COMMANDS },
      { examples: [['hold', 'transfer', 'hangup']] },
    ),
  },
  examples: [{ ...example, allowedCommands: ['hold', 'transfer', 'hangup'] }],
})

/** Shows legs of one tenant: the latest snapshot of each, and what can be done with it. A phone that cannot be made to answer does not allow `answer`. */
export async function showLegs(platform: Platform, tenant: Tenant, statuses: readonly CallStatus[]) {
  const agents = await Promise.all(statuses.map(({ agentUri }) => platform.findAgent(tenant, agentUri)))
  return statuses.map((status, at) => {
    const canAnswer = agents[at]?.remoteAnswer !== false
    const commands = allowedCommands(status).filter((command) => canAnswer || command !== 'answer')
    return { ...status, allowedCommands: commands }
  })
}

export type CallListDeps = Pick<ContactCenter, 'platform' | 'center' | 'now'> & { readonly events: EventList }

export const readCallsById = async ({ readCalls }: Pick<Center, 'readCalls'>, tenant: Tenant, ids: readonly CallId[]) =>
  new Map((await readCalls(tenant, [...new Set(ids)])).map((call) => [call.callId, call]))

/** Resolves to the agents with the live legs of each, in the order of the URIs. */
export async function readLiveLegs(center: Center, tenant: Tenant, agentUris: readonly string[]) {
  const agents = await center.readAgents(tenant, agentUris)
  const ids = agents.flatMap((agent) => agent.calls.map(({ callId }) => callId))
  const calls = await readCallsById(center, tenant, ids)
  return agents.map((agent) => {
    const legs = agent.calls.map(({ callId }) => calls.get(callId)?.legs[agent.agentUri]?.status)
    return { agent, legs: legs.filter(isLiveLeg) }
  })
}

export const isLiveLeg = (status: CallStatus | undefined): status is CallStatus =>
  status !== undefined && status.state !== CallState.ended
