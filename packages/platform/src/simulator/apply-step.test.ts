import { type CallId, CallState, newCallId, uuidV5 } from '@switchhook/contracts'
import fc from 'fast-check'
import { createObserver } from '../conformance/observer.ts'
import { play } from './apply-step.ts'
import { newDial, newInbound } from './begin-call.ts'
import type { Cue, DeviceState, LaterCue, Party, Played, Session } from './call-group.ts'
import { latestReports } from './call-group.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const CAROL = 'sip:carol@acme.example'
const AGENTS = [ALICE, BOB, CAROL]

const agent = (agentUri: string): Party => ({ kind: 'agent', agentUri, device: 'SIM/1' })
const outside = (address: string): Party => ({ kind: 'outside', address })

/** A session that is played with a clock of its own; what falls due later falls due when its time has come. */
class Stage {
  session: Session
  readonly observer = createObserver()
  readonly #callId: CallId
  #due: { readonly at: number; readonly cue: Cue }[] = []
  #nowMs = 0

  constructor(callId: CallId, begun: Played) {
    this.#callId = callId
    this.session = begun.session
    this.#took(begun.later)
  }

  get callId(): CallId {
    return this.#callId
  }

  async start(): Promise<void> {
    await this.observer.listener.legs(latestReports(this.session))
  }

  async cue(cue: Cue, device: DeviceState = 'free'): Promise<void> {
    const at = new Date(this.#nowMs).toISOString()
    const { session, later } = play(this.session, cue, { at, deviceOf: () => device })
    if (session === this.session) return
    this.session = session
    this.#took(later)
    await this.observer.listener.legs(latestReports(session))
  }

  async pass(ms: number): Promise<void> {
    const end = this.#nowMs + ms
    for (;;) {
      const [next] = this.#due.toSorted((a, b) => a.at - b.at)
      if (next === undefined || next.at > end) break
      this.#due = this.#due.filter((other) => other !== next)
      this.#nowMs = next.at
      await this.cue(next.cue)
    }
    this.#nowMs = end
  }

  /** The agents who are in a call now. */
  present(): string[] {
    return AGENTS.filter((agentUri) => this.observer.liveCalls(agentUri).length > 0)
  }

  #took(later: readonly LaterCue[]): void {
    this.#due.push(...later.map(({ cue, dueInMs }) => ({ cue, at: this.#nowMs + dueInMs })))
  }
}

const anAgent = fc.constantFrom(...AGENTS)
const anAddress = fc.constantFrom('+15550100', '+15550101', '+15550102', '+15550103', '+15550104')
const aTarget = fc.oneof(anAgent.map(agent), anAddress.map(outside))

type Move = (stage: Stage, n: number) => Promise<void>

/** Which of the session's calls a move is for: the nth that there is by then. */
const callAt = (stage: Stage, index: number): CallId => {
  const ids = Object.keys(stage.session.calls) as CallId[]
  return ids[index % ids.length] ?? stage.callId
}

const legMove = fc
  .record({
    index: fc.nat({ max: 3 }),
    agentUri: anAgent,
    kind: fc.constantFrom('answer', 'hangup', 'hold', 'resume', 'completeTransfer'),
  })
  .map(
    ({ index, agentUri, kind }): Move =>
      (stage) =>
        stage.cue({ kind: kind as 'hold', callId: callAt(stage, index), agentUri, commandId: null }),
  )

const transferMove = fc
  .record({ index: fc.nat({ max: 3 }), agentUri: anAgent, target: aTarget, isBlind: fc.boolean() })
  .map(
    ({ index, agentUri, target, isBlind }): Move =>
      async (stage, n) => {
        if (target.kind === 'agent' && target.agentUri === agentUri) return
        const callId = callAt(stage, index)
        const asked = target.kind === 'agent' ? target.agentUri : target.address
        const consultationCallId = isBlind ? null : (uuidV5(callId, `consultation ${n}`) as CallId)
        const what = { target: { ...target, asked }, correlationId: null, consultationCallId }
        await stage.cue({ kind: 'transfer', callId, agentUri, commandId: null, ...what })
      },
  )

const remoteMove = fc
  .record({ index: fc.nat({ max: 3 }), action: fc.constantFrom('answer', 'hangup', 'hold', 'resume') })
  .map(
    ({ index, action }): Move =>
      (stage) =>
        stage.cue({ kind: 'remote', callId: callAt(stage, index), action: action as 'hold' }),
  )

const clockMove = fc.integer({ min: 1, max: 40_000 }).map(
  (ms): Move =>
    (stage) =>
      stage.pass(ms),
)
const deviceMove = anAgent.map(
  (agentUri): Move =>
    (stage) =>
      stage.cue({ kind: 'device-gone', agentUri }),
)

/** Time passes and people transfer more often than the rest, so that play gets somewhere. */
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

const anyBeginning = fc.oneof(
  aTarget
    .filter((target) => !(target.kind === 'agent' && target.agentUri === ALICE))
    .map((called) => {
      const callId = newCallId()
      const ends = { tenant: 'acme', callId, caller: agent(ALICE), called, at: new Date(0).toISOString() }
      return () => new Stage(callId, newDial(ends, { commandId: null, cli: null, correlationId: null }))
    }),
  fc.constant(() => {
    const callId = newCallId()
    const ends = {
      tenant: 'acme',
      callId,
      caller: outside('+15559000'),
      called: agent(ALICE),
      at: new Date(0).toISOString(),
    }
    return new Stage(callId, newInbound(ends, { ringForMs: null, talkForMs: null }))
  }),
)

test('whatever befalls whatever call in whatever order, every report is one that the call model allows', async () => {
  await fc.assert(
    fc.asyncProperty(anyBeginning, anyMoves, async (begin, moves) => {
      const stage = begin()
      await stage.start()
      for (const [n, move] of moves.entries()) await move(stage, n)
      stage.observer.verify()
    }),
    { numRuns: 500 },
  )
})

test('when everybody from outside has hung up, and every agent, nobody is left in a call', async () => {
  await fc.assert(
    fc.asyncProperty(anyBeginning, anyMoves, async (begin, moves) => {
      const stage = begin()
      await stage.start()
      for (const [n, move] of moves.entries()) await move(stage, n)
      for (const callId of Object.keys(stage.session.calls) as CallId[]) {
        await stage.cue({ kind: 'remote', callId, action: 'hangup' })
      }
      for (const agentUri of AGENTS) {
        for (const callId of stage.observer.liveCalls(agentUri)) {
          await stage.cue({ kind: 'hangup', callId, agentUri, commandId: null })
        }
      }
      await stage.pass(100_000)
      for (const agentUri of AGENTS) {
        for (const callId of stage.observer.liveCalls(agentUri)) {
          await stage.cue({ kind: 'hangup', callId, agentUri, commandId: null })
        }
      }
      expect(stage.present()).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('a customer is never lost by a transfer: as long as nobody hangs up and no device goes, an agent or the target has the customer', async () => {
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
            (stage) =>
              stage.cue({ kind: kind as 'answer', callId: callAt(stage, index), agentUri, commandId: null }),
        ),
    ),
    { maxLength: 20 },
  )
  await fc.assert(
    fc.asyncProperty(quietMoves, async (moves) => {
      const callId = newCallId()
      const ends = {
        tenant: 'acme',
        callId,
        caller: outside('+15559000'),
        called: agent(ALICE),
        at: new Date(0).toISOString(),
      }
      // A customer who waits for as long as it takes.
      const stage = new Stage(callId, newInbound(ends, { ringForMs: null, talkForMs: 100_000_000 }))
      await stage.start()
      await stage.cue({ kind: 'answer', callId, agentUri: ALICE, commandId: null })
      for (const [n, move] of moves.entries()) {
        await move(stage, n)
        const talksToTarget = stage.observer
          .reports()
          .some(({ transfer, state }) => state === CallState.ended && transfer?.status === 3)
        expect(stage.present().length > 0 || talksToTarget).toBe(true)
      }
      stage.observer.verify()
    }),
    { numRuns: 300 },
  )
})
