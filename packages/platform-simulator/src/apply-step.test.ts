import { createObserver } from '@switchhook/conformance'
import { type CallId, CallState, newCallId, uuidV5 } from '@switchhook/contracts'
import {
  beginDial,
  beginInbound,
  type CallGroup,
  type CallStep,
  type DeviceState,
  type Party,
  reportsOfLastStep,
  type ScheduledStep,
  type StepResult,
} from '@switchhook/platform'
import fc from 'fast-check'
import { applyStep } from './apply-step.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const CAROL = 'sip:carol@acme.example'
const AGENTS = [ALICE, BOB, CAROL]

const agent = (agentUri: string): Party => ({ kind: 'agent', agentUri, device: 'SIM/1' })
const outside = (address: string): Party => ({ kind: 'outside', address })

/** A call group with a virtual clock, which applies scheduled steps when they are due. */
class Run {
  group: CallGroup
  readonly observer = createObserver()
  readonly #callId: CallId
  #due: { readonly at: number; readonly step: CallStep }[] = []
  #nowMs = 0

  constructor(callId: CallId, begun: StepResult) {
    this.#callId = callId
    this.group = begun.group
    this.#schedule(begun.scheduled)
  }

  get callId(): CallId {
    return this.#callId
  }

  async start(): Promise<void> {
    await this.observer.listener.legs(reportsOfLastStep(this.group))
  }

  async apply(step: CallStep, device: DeviceState = 'free'): Promise<void> {
    const at = new Date(this.#nowMs).toISOString()
    const { group, scheduled } = applyStep(this.group, step, { at, device, busyElsewhere: new Set() })
    if (group === this.group) return
    this.group = group
    this.#schedule(scheduled)
    await this.observer.listener.legs(reportsOfLastStep(group))
  }

  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms
    for (;;) {
      const [next] = this.#due.toSorted((a, b) => a.at - b.at)
      if (next === undefined || next.at > end) break
      this.#due = this.#due.filter((other) => other !== next)
      this.#nowMs = next.at
      await this.apply(next.step)
    }
    this.#nowMs = end
  }

  /** The agents who have a live leg. */
  present(): string[] {
    return AGENTS.filter((agentUri) => this.observer.liveCalls(agentUri).length > 0)
  }

  #schedule(scheduled: readonly ScheduledStep[]): void {
    this.#due.push(...scheduled.map(({ step, dueInMs }) => ({ step, at: this.#nowMs + dueInMs })))
  }
}

const anAgent = fc.constantFrom(...AGENTS)
const anAddress = fc.constantFrom('+15550100', '+15550101', '+15550102', '+15550103', '+15550104')
const aTarget = fc.oneof(anAgent.map(agent), anAddress.map(outside))

type Move = (run: Run, n: number) => Promise<void>

/** The call that a move is for: the nth call that exists by then. */
const callAt = (run: Run, index: number): CallId => {
  const ids = Object.keys(run.group.calls) as CallId[]
  return ids[index % ids.length] ?? run.callId
}

const legMove = fc
  .record({
    index: fc.nat({ max: 3 }),
    agentUri: anAgent,
    kind: fc.constantFrom('answer', 'hangup', 'hold', 'resume', 'completeTransfer'),
  })
  .map(
    ({ index, agentUri, kind }): Move =>
      (run) =>
        run.apply({ kind: kind as 'hold', callId: callAt(run, index), agentUri, commandId: null }),
  )

const transferMove = fc
  .record({ index: fc.nat({ max: 3 }), agentUri: anAgent, target: aTarget, isBlind: fc.boolean() })
  .map(
    ({ index, agentUri, target, isBlind }): Move =>
      async (run, n) => {
        if (target.kind === 'agent' && target.agentUri === agentUri) return
        const callId = callAt(run, index)
        const asked = target.kind === 'agent' ? target.agentUri : target.address
        const consultationCallId = isBlind ? null : (uuidV5(callId, `consultation ${n}`) as CallId)
        const transfer = { target: { ...target, asked }, correlationId: null, consultationCallId }
        await run.apply({ kind: 'transfer', callId, agentUri, commandId: null, ...transfer })
      },
  )

const remoteMove = fc
  .record({ index: fc.nat({ max: 3 }), action: fc.constantFrom('answer', 'hangup', 'hold', 'resume') })
  .map(
    ({ index, action }): Move =>
      (run) =>
        run.apply({ kind: 'remote', callId: callAt(run, index), action: action as 'hold' }),
  )

const clockMove = fc.integer({ min: 1, max: 40_000 }).map(
  (ms): Move =>
    (run) =>
      run.advance(ms),
)
const deviceMove = anAgent.map(
  (agentUri): Move =>
    (run) =>
      run.apply({ kind: 'device-offline', agentUri }),
)

/** Time and transfers are more frequent than hang-ups, so that calls reach many states. */
const anyMoves = fc.array(
  fc.oneof(
    { arbitrary: clockMove, weight: 4 },
    { arbitrary: legMove, weight: 5 },
    { arbitrary: transferMove, weight: 4 },
    { arbitrary: remoteMove, weight: 1 },
    { arbitrary: deviceMove, weight: 1 },
  ),
  { maxLength: 30 },
)

function anInboundCall(talkForMs: number | null): Run {
  const callId = newCallId()
  const at = new Date(0).toISOString()
  const ends = { tenant: 'acme', callId, caller: outside('+15559000'), called: agent(ALICE), at }
  return new Run(callId, beginInbound(ends, { ringForMs: null, talkForMs }))
}

const anyStart = fc.oneof(
  aTarget
    .filter((target) => !(target.kind === 'agent' && target.agentUri === ALICE))
    .map((called) => {
      const callId = newCallId()
      const ends = { tenant: 'acme', callId, caller: agent(ALICE), called, at: new Date(0).toISOString() }
      return () => new Run(callId, beginDial(ends, { commandId: null, cli: null, correlationId: null }))
    }),
  fc.constant(() => anInboundCall(null)),
)

test('for any steps in any order, the call model allows every report', async () => {
  await fc.assert(
    fc.asyncProperty(anyStart, anyMoves, async (begin, moves) => {
      const run = begin()
      await run.start()
      for (const [n, move] of moves.entries()) await move(run, n)
      run.observer.verify()
    }),
    { numRuns: 500 },
  )
})

test('after all outside parties and all agents have hung up, no agent has a live leg', async () => {
  await fc.assert(
    fc.asyncProperty(anyStart, anyMoves, async (begin, moves) => {
      const run = begin()
      await run.start()
      for (const [n, move] of moves.entries()) await move(run, n)
      for (const callId of Object.keys(run.group.calls) as CallId[]) {
        await run.apply({ kind: 'remote', callId, action: 'hangup' })
      }
      for (const agentUri of AGENTS) {
        for (const callId of run.observer.liveCalls(agentUri)) {
          await run.apply({ kind: 'hangup', callId, agentUri, commandId: null })
        }
      }
      await run.advance(100_000)
      for (const agentUri of AGENTS) {
        for (const callId of run.observer.liveCalls(agentUri)) {
          await run.apply({ kind: 'hangup', callId, agentUri, commandId: null })
        }
      }
      expect(run.present()).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('a transfer never loses the customer: without a hang-up or a device going offline, an agent or the target has the customer', async () => {
  const quietMoves = fc.array(
    fc.oneof(
      clockMove,
      transferMove,
      fc
        .record({
          agentUri: anAgent,
          index: fc.nat({ max: 3 }),
          kind: fc.constantFrom('answer', 'resume', 'completeTransfer'),
        })
        .map(
          ({ agentUri, index, kind }): Move =>
            (run) =>
              run.apply({ kind: kind as 'answer', callId: callAt(run, index), agentUri, commandId: null }),
        ),
    ),
    { maxLength: 20 },
  )
  await fc.assert(
    fc.asyncProperty(quietMoves, async (moves) => {
      // The customer waits longer than any test runs.
      const run = anInboundCall(100_000_000)
      await run.start()
      await run.apply({ kind: 'answer', callId: run.callId, agentUri: ALICE, commandId: null })
      for (const [n, move] of moves.entries()) {
        await move(run, n)
        const talksToTarget = run.observer
          .reports()
          .some(({ transfer, state }) => state === CallState.ended && transfer?.status === 3)
        expect(run.present().length > 0 || talksToTarget).toBe(true)
      }
      run.observer.verify()
    }),
    { numRuns: 300 },
  )
})
