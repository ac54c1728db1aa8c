import { setTimeout as pause } from 'node:timers/promises'
import { createObserver, type Observer } from '@switchhook/conformance'
import { type CallId, CallState, newCallId, newCommandId } from '@switchhook/contracts'
import type { PbxAgent } from '@switchhook/platform-asterisk'
import type { AsteriskLab } from './asterisk-lab.ts'
import type { LabHarness } from './lab-harness.ts'

/** What a state promises must be true in Asterisk this soon after the state was reported. */
const PROMISED_WITHIN_MS = 300
/** As a share of the loudest possible sample. */
const AUDIBLE = 0.02
const POLL_MS = 5

/** People at phones, their calls, and what the tests of the phones ask about them. */
export class People {
  readonly #lab: () => AsteriskLab
  observer: Observer = createObserver()
  #on: LabHarness | undefined
  #answer: PbxAgent['answer'] = 'talk'

  constructor(lab: () => AsteriskLab) {
    this.#lab = lab
  }

  get on(): LabHarness {
    if (this.#on === undefined) throw new Error('the adapter has not been opened')
    return this.#on
  }

  async open(answer: PbxAgent['answer'] = 'talk', ringSeconds?: number): Promise<void> {
    this.#answer = answer
    this.observer = createObserver()
    this.#on = await this.#lab().open(this.observer, answer, ringSeconds)
    await this.on.platform.start(this.observer.listener)
  }

  async close(): Promise<void> {
    await this.on.platform.stop()
    this.observer.verify()
  }

  phone(name: string) {
    return this.#lab().phone(name)
  }

  readonly leg = (callId: CallId, agentUri = this.on.alice) => ({
    tenant: this.on.tenant,
    callId,
    agentUri,
    commandId: newCommandId(),
  })

  readonly inState = async (callId: CallId, state: CallState, agentUri = this.on.alice) => {
    await this.on.until(() => this.observer.latest(callId, agentUri)?.state === state)
    return this.observer.latest(callId, agentUri)
  }

  /** The agent answers: at the phone, or by command if the phone does not ring because its line is open. */
  async answer(callId: CallId, agentUri = this.on.alice, holdFirst: readonly CallId[] = []): Promise<void> {
    if (this.#answer === 'connected') await this.on.platform.answer({ ...this.leg(callId, agentUri), holdFirst })
    else this.phone(nameOf(agentUri)).answer()
    await this.inState(callId, CallState.connected, agentUri)
  }

  /** A customer's call that rings alice. */
  async ringing(): Promise<CallId> {
    const callId = await this.on.ring(this.on.alice)
    await this.inState(callId, CallState.alerting)
    return callId
  }

  /** A customer's call that alice has answered at her phone. */
  async answered(): Promise<CallId> {
    const callId = await this.ringing()
    await this.answer(callId)
    return callId
  }

  /** A call of alice to bob, who has answered. */
  async withColleague(): Promise<CallId> {
    const callId = await this.dial(this.on.bob)
    await this.inState(callId, CallState.alerting, this.on.bob)
    await this.answer(callId, this.on.bob)
    return callId
  }

  async transfer(callId: CallId, target: string, consultationCallId: CallId | null = null): Promise<void> {
    await this.on.platform.transfer({ ...this.leg(callId), target, correlationId: null, consultationCallId })
  }

  async dial(destination: string, cli: string | null = null): Promise<CallId> {
    const callId = newCallId()
    await this.on.platform.dial({ ...this.leg(callId), destination, cli, correlationId: null })
    return callId
  }

  /** A call that alice has dialled, and that an outside party has answered. */
  async dialled(cli: string | null = null): Promise<CallId> {
    const callId = await this.dial('+15550100', cli)
    await this.inState(callId, CallState.connected)
    return callId
  }

  /** Alice consults bob about a customer's call, and bob has answered. */
  async consulting(): Promise<readonly [call: CallId, consultation: CallId]> {
    const [callId, consultation] = [await this.answered(), newCallId()]
    await this.transfer(callId, this.on.bob, consultation)
    await this.inState(consultation, CallState.alerting, this.on.bob)
    await this.answer(consultation, this.on.bob)
    return [callId, consultation]
  }

  /** Alice joins her two calls at the phone. The phone learns of an answer at about the time of the event that says so. */
  async joinCalls(): Promise<void> {
    const alice = this.phone('alice')
    await this.on.until(() => alice.calls.filter(({ isTalking }) => isTalking).length === 2)
    alice.joinCalls()
  }

  /** Rejects unless exactly these parties talk with each other, and these wait on music, as soon as the state promises it. */
  async expectTalking(talking: readonly string[], waiting: readonly string[] = []): Promise<void> {
    const asked = { talking, waiting }
    const found = () => this.#lab().whoHears()
    let now = await found()
    for (const endMs = Date.now() + PROMISED_WITHIN_MS; JSON.stringify(now) !== JSON.stringify(asked); ) {
      if (Date.now() > endMs) break
      await pause(POLL_MS)
      now = await found()
    }
    expect(now).toEqual(asked)
  }

  /** Rejects unless sound is sent now to the phone, or to the customer (`pstn`). */
  async expectAudible(name: string): Promise<void> {
    expect(await this.#lab().world().loudnessAt(name)).toBeGreaterThan(AUDIBLE)
  }
}

const nameOf = (agentUri: string): string => /^sip:(\w+)@/.exec(agentUri)?.[1] ?? ''
