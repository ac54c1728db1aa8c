import { type CallId, CallState, type CommandId, type Tenant } from '@switchhook/contracts'
import type { Leg } from '@switchhook/platform'
import type { Writing } from '../../state/transact.ts'

/** The dial command that created a call, as stored before the platform receives it. */
export interface Dialled {
  readonly agentUri: string
  readonly destination: string
  readonly cli: string | null
  readonly correlationId: string | null
  readonly commandId: CommandId
}

/** A call as stored: the command that created it, and the latest state of each agent's leg. */
export interface Call {
  readonly callId: CallId
  readonly tenant: Tenant
  /** null: an inbound call, or a call that was started at a phone. */
  readonly dialled: Dialled | null
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** The platform certainly did not receive the dial, and the client got an error. */
  readonly isAbandoned: boolean
  /** Trace context of the request that created the call. Later events without a request continue this trace. */
  readonly traceparent?: string
  readonly legs: Readonly<Record<string, Leg>>
}

/**
 * How long a call that has ended, or that the platform did not receive, is kept, so that a late command is answered 409 and
 * not 404 (the specification asks for at least 5 minutes).
 */
export const REMEMBERED_MS = 10 * 60_000

export const newCall = ({ callId, tenant }: Pick<Call, 'callId' | 'tenant'>, createdAt: string): Call => ({
  callId,
  tenant,
  dialled: null,
  createdAt,
  isAbandoned: false,
  legs: {},
})

/** Has the platform reported the call? */
export const hasBegun = (call: Call): boolean => Object.keys(call.legs).length > 0

/** Has the call a leg that has not ended? A dialled call has none before the first report. */
export const isLive = (call: Call): boolean =>
  Object.values(call.legs).some(({ status }) => status.state !== CallState.ended)

/** Key of the record within its tenant (`StateStore` of packages/store). */
export const callKey = (callId: CallId): string => `call:${callId}`

/** A live call does not expire, nor a dial that was not reported: its probe finds it after any outage. */
export const callRecord = (call: Call): Writing['records'][number] => ({
  key: callKey(call.callId),
  value: call,
  ...(!isLive(call) && !isUnreported(call) && { ttlMs: REMEMBERED_MS }),
})

const isUnreported = (call: Call): boolean => call.dialled !== null && !call.isAbandoned && !hasBegun(call)
