import { type CallId, CallState, type CallStatus, newCallId, newCommandId } from '@switchhook/contracts'
import type { Platform } from '../platform.ts'
import type { Harness, OpenHarness } from './harness.ts'
import { createObserver, type Observer } from './observer.ts'

/** What a test of a platform works with: its world, what was told of it, and the ways to act. Made anew for every test. */
export class Stage {
  #on: Harness | undefined
  #observer = createObserver()
  #platform: Platform | undefined

  async set(open: OpenHarness): Promise<void> {
    this.#observer = createObserver()
    this.#on = await open(this.#observer)
    this.#platform = this.#on.platform
    await this.#platform.start(this.#observer.listener)
  }

  async strike(): Promise<void> {
    await this.platform.stop()
    this.#observer.verify()
  }

  get on(): Harness {
    if (this.#on === undefined) throw new Error('the stage is not set')
    return this.#on
  }

  get observer(): Observer {
    return this.#observer
  }

  get platform(): Platform {
    if (this.#platform === undefined) throw new Error('the stage is not set')
    return this.#platform
  }

  set platform(platform: Platform) {
    this.#platform = platform
  }

  leg(callId: CallId, agentUri = this.on.alice) {
    return { tenant: this.on.tenant, callId, agentUri, commandId: newCommandId() }
  }

  talk(callId: CallId, agentUri = this.on.alice, holdFirst: readonly CallId[] = []) {
    return { ...this.leg(callId, agentUri), holdFirst }
  }

  states(callId: CallId, agentUri = this.on.alice): number[] {
    return this.observer.eventsOf(callId, agentUri).map(({ state }) => state)
  }

  async inState(callId: CallId, state: CallState, agentUri = this.on.alice): Promise<CallStatus> {
    await this.on.until(() => this.observer.latest(callId, agentUri)?.state === state)
    const status = this.observer.latest(callId, agentUri)
    if (status === undefined) throw new Error('it is there')
    return status
  }

  async dial(destination: string, agentUri = this.on.alice, callId = newCallId()): Promise<CallId> {
    const dial = { destination, cli: '+15550199', correlationId: 'crm-1' }
    await this.platform.dial({ ...this.leg(callId, agentUri), ...dial })
    return callId
  }

  /** A customer whom alice talks to. */
  async customer(): Promise<CallId> {
    const callId = await this.on.ring(this.on.alice)
    await this.inState(callId, CallState.alerting)
    await this.platform.answer(this.talk(callId))
    await this.inState(callId, CallState.connected)
    return callId
  }

  async transfer(callId: CallId, target: string, consultationCallId: CallId | null): Promise<void> {
    await this.platform.transfer({ ...this.leg(callId), target, correlationId: null, consultationCallId })
  }

  /** Alice talks to a customer, and consults. */
  async consulting(target = this.on.bob): Promise<readonly [CallId, CallId]> {
    const [callId, consultation] = [await this.customer(), newCallId()]
    await this.transfer(callId, target, consultation)
    return [callId, consultation]
  }
}
