import {
  type CallId,
  CallState,
  type CallStatus,
  newCallId,
  newCommandId,
  type TransferStatus,
} from '@switchhook/contracts'
import type { Platform } from '@switchhook/platform'
import type { Harness, OpenHarness } from './harness.ts'
import { createObserver } from './observer.ts'

/** One test's platform and observer, with short forms of what tests do. Set up again for every test. */
export class Fixture {
  observer = createObserver()
  harness!: Harness
  platform!: Platform

  async setUp(open: OpenHarness): Promise<void> {
    this.observer = createObserver()
    this.harness = await open(this.observer)
    this.platform = this.harness.platform
    await this.platform.start(this.observer.listener)
  }

  async tearDown(): Promise<void> {
    await this.platform.stop()
    this.observer.verify()
  }

  /** The process dies, and another one takes over. */
  async restart(): Promise<void> {
    this.platform = await this.harness.restart(this.observer)
  }

  get alice(): string {
    return this.harness.alice
  }

  get bob(): string {
    return this.harness.bob
  }

  /** A command on an agent's leg, with a new commandId. */
  leg(callId: CallId, agentUri = this.alice) {
    return { tenant: this.harness.tenant, callId, agentUri, commandId: newCommandId() }
  }

  /** `leg` for answer and resume. */
  talk(callId: CallId, agentUri = this.alice, holdFirst: readonly CallId[] = []) {
    return { ...this.leg(callId, agentUri), holdFirst }
  }

  latest(callId: CallId, agentUri = this.alice): CallStatus | undefined {
    return this.observer.latest(callId, agentUri)
  }

  states(callId: CallId, agentUri = this.alice): number[] {
    return this.observer.eventsOf(callId, agentUri).map(({ state }) => state)
  }

  async untilState(callId: CallId, state: CallState, agentUri = this.alice): Promise<CallStatus> {
    await this.harness.until(() => this.latest(callId, agentUri)?.state === state)
    const status = this.latest(callId, agentUri)
    if (status === undefined) throw new Error(`${agentUri} has no leg of call ${callId}`)
    return status
  }

  async untilTransfer(callId: CallId, status: TransferStatus): Promise<void> {
    await this.harness.until(() => this.latest(callId)?.transfer?.status === status)
  }

  async dial(destination: string, agentUri = this.alice, callId = newCallId()): Promise<CallId> {
    const dial = { destination, cli: '+15550199', correlationId: 'crm-1' }
    await this.platform.dial({ ...this.leg(callId, agentUri), ...dial })
    return callId
  }

  /** The agent's phone rings, and the agent answers. */
  async answer(callId: CallId, agentUri = this.alice): Promise<void> {
    await this.untilState(callId, CallState.alerting, agentUri)
    await this.platform.answer(this.talk(callId, agentUri))
    await this.untilState(callId, CallState.connected, agentUri)
  }

  /** An inbound call that alice has answered. */
  async customerCall(): Promise<CallId> {
    const callId = await this.harness.ring(this.alice)
    await this.answer(callId)
    return callId
  }

  /** A call between two agents, answered: from alice to bob unless others are named. */
  async colleagueCall(called = this.bob, caller = this.alice): Promise<CallId> {
    const callId = await this.dial(called, caller)
    await this.answer(callId, called)
    await this.untilState(callId, CallState.connected, caller)
    return callId
  }

  /** The only call of an agent, once there is one. */
  async onlyCall(agentUri: string): Promise<CallId> {
    await this.harness.until(() => this.observer.liveCalls(agentUri).length === 1)
    const [callId] = this.observer.liveCalls(agentUri)
    if (callId === undefined) throw new Error(`${agentUri} has no call`)
    return callId
  }

  async transfer(
    callId: CallId,
    target: string,
    consultationCallId: CallId | null = null,
    agentUri = this.alice,
  ): Promise<void> {
    await this.platform.transfer({ ...this.leg(callId, agentUri), target, correlationId: null, consultationCallId })
  }

  /** A customer's call that alice transfers attended: its id and that of the consultation. */
  async consultation(target = this.bob): Promise<readonly [CallId, CallId]> {
    const [callId, consultation] = [await this.customerCall(), newCallId()]
    await this.transfer(callId, target, consultation)
    return [callId, consultation]
  }

  /** The same, after bob has answered alice. */
  async answeredConsultation(): Promise<readonly [CallId, CallId]> {
    const [callId, consultation] = await this.consultation()
    await this.answer(consultation, this.bob)
    await this.untilState(consultation, CallState.connected)
    return [callId, consultation]
  }
}
