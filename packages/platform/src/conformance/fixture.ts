import {
  type CallId,
  CallState,
  type CallStatus,
  newCallId,
  newCommandId,
  type TransferStatus,
} from '@switchhook/contracts'
import type { Platform } from '../platform.ts'
import type { Harness, OpenHarness } from './harness.ts'
import { createObserver, type Observer } from './observer.ts'

/** One test's platform and observer, with short forms of what tests do. Set up again for every test. */
export class Fixture {
  #harness: Harness | undefined
  #observer = createObserver()
  #platform: Platform | undefined

  async setUp(open: OpenHarness): Promise<void> {
    this.#observer = createObserver()
    this.#harness = await open(this.#observer)
    this.#platform = this.#harness.platform
    await this.#platform.start(this.#observer.listener)
  }

  async tearDown(): Promise<void> {
    await this.platform.stop()
    this.#observer.verify()
  }

  get harness(): Harness {
    if (this.#harness === undefined) throw new Error('setUp has not run')
    return this.#harness
  }

  get observer(): Observer {
    return this.#observer
  }

  get platform(): Platform {
    if (this.#platform === undefined) throw new Error('setUp has not run')
    return this.#platform
  }

  set platform(platform: Platform) {
    this.#platform = platform
  }

  /** A command on alice's leg, with a new commandId. */
  leg(callId: CallId, agentUri = this.harness.alice) {
    return { tenant: this.harness.tenant, callId, agentUri, commandId: newCommandId() }
  }

  /** `leg` for answer and resume. */
  talk(callId: CallId, agentUri = this.harness.alice, holdFirst: readonly CallId[] = []) {
    return { ...this.leg(callId, agentUri), holdFirst }
  }

  states(callId: CallId, agentUri = this.harness.alice): number[] {
    return this.observer.eventsOf(callId, agentUri).map(({ state }) => state)
  }

  async untilState(callId: CallId, state: CallState, agentUri = this.harness.alice): Promise<CallStatus> {
    await this.harness.until(() => this.observer.latest(callId, agentUri)?.state === state)
    const status = this.observer.latest(callId, agentUri)
    if (status === undefined) throw new Error(`${agentUri} has no leg of call ${callId}`)
    return status
  }

  async untilTransfer(callId: CallId, status: TransferStatus): Promise<void> {
    await this.harness.until(() => this.observer.latest(callId, this.harness.alice)?.transfer?.status === status)
  }

  async dial(destination: string, agentUri = this.harness.alice, callId = newCallId()): Promise<CallId> {
    const dial = { destination, cli: '+15550199', correlationId: 'crm-1' }
    await this.platform.dial({ ...this.leg(callId, agentUri), ...dial })
    return callId
  }

  /** An inbound call that alice has answered. */
  async customerCall(): Promise<CallId> {
    const callId = await this.harness.ring(this.harness.alice)
    await this.untilState(callId, CallState.alerting)
    await this.platform.answer(this.talk(callId))
    await this.untilState(callId, CallState.connected)
    return callId
  }

  async transfer(callId: CallId, target: string, consultationCallId: CallId | null): Promise<void> {
    await this.platform.transfer({ ...this.leg(callId), target, correlationId: null, consultationCallId })
  }

  /** A customer's call that alice transfers attended: its id and that of the consultation. */
  async consultation(target = this.harness.bob): Promise<readonly [CallId, CallId]> {
    const [callId, consultation] = [await this.customerCall(), newCallId()]
    await this.transfer(callId, target, consultation)
    return [callId, consultation]
  }
}
