import { type CallId, CallState, type CommandId } from '@switchhook/contracts'
import type { Leg, LegReport } from '@switchhook/platform'

/** What a call was begun with, before the platform knew of it. */
export interface Dialled {
  readonly agentUri: string
  readonly destination: string
  readonly cli: string | null
  readonly correlationId: string | null
  readonly commandId: CommandId
}

/** A call as it is stored: what it was begun with, and the latest of each agent's leg. */
export interface Call {
  readonly callId: CallId
  readonly tenant: string | null
  /** null: it came from outside, or was begun at a phone. */
  readonly dialled: Dialled | null
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** The client was told that the platform never got it. */
  readonly isAbandoned: boolean
  /** Of the request that began it: what happens to the call without a request continues it. */
  readonly traceparent?: string
  /** By agentUri. */
  readonly legs: Readonly<Record<string, Leg>>
}

export const newCall = ({ callId, tenant }: Pick<Call, 'callId' | 'tenant'>, createdAt: string): Call => ({
  callId,
  tenant,
  dialled: null,
  createdAt,
  isAbandoned: false,
  legs: {},
})

/** A call that nobody here has begun. */
export const callOf = (report: LegReport): Call => newCall(report, report.at)

/** Does the platform know of it, as far as we have heard? */
export const hasBegun = (call: Call): boolean => Object.keys(call.legs).length > 0

/** Is anybody in it? Nobody is before the first leg has begun, nor after the last one has ended. */
export const isLive = (call: Call): boolean =>
  Object.values(call.legs).some(({ status }) => status.state !== CallState.ended)
