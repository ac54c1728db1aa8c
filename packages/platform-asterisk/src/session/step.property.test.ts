import { CallState, newCallId, newCommandId } from '@switchhook/contracts'
import { applyReport, type Leg, NEXT, type Party } from '@switchhook/platform'
import fc from 'fast-check'
import { beginArrival, beginDial } from './begin.ts'
import type { Input } from './input.ts'
import { isFinished, isLive, type PbxSession } from './session.ts'
import { type Stepped, step } from './step.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const CAROL = 'sip:carol@acme.example'
const agent = (agentUri: string): Party => ({ kind: 'agent', agentUri, device: 'PJSIP/x' })
const outside: Party = { kind: 'outside', address: '+15550100' }

/** Becomes an input for the session's present state: indices choose among its calls, legs and channels. */
interface Wish {
  readonly what: number
  readonly which: number
  readonly cause: number
  readonly isAttended: boolean
  readonly target: Party
}

const wish: fc.Arbitrary<Wish> = fc.record({
  what: fc.nat({ max: 20 }),
  which: fc.nat({ max: 7 }),
  cause: fc.constantFrom(0, 1, 16, 17, 19, 20, 21, 26, 34, 127),
  isAttended: fc.boolean(),
  target: fc.constantFrom<Party>(agent(BOB), agent(CAROL), agent(ALICE), outside),
})

const HOWS = ['talk', 'again', 'connected'] as const

function inputOf(session: PbxSession, { what, which, cause, isAttended, target }: Wish): Input | undefined {
  const live = session.channels.filter(isLive)
  const channelId = live[which % Math.max(live.length, 1)]?.id
  const legs = session.group.legs.filter(({ state }) => state !== CallState.ended)
  const leg = legs[which % Math.max(legs.length, 1)]
  const base = leg && { callId: leg.callId, agentUri: leg.agentUri, commandId: newCommandId() }
  const ofChannel: Input[] =
    channelId === undefined
      ? []
      : [
          { kind: 'ringing', channelId },
          { kind: 'ready', channelId, isUp: isAttended },
          { kind: 'up', channelId },
          { kind: 'gone', channelId, cause, sipCode: null },
          { kind: 'phone-holds', channelId },
          { kind: 'phone-resumes', channelId },
          { kind: 'end-asked', channelId, by: isAttended ? 'party' : 'shutdown' },
          { kind: 'refused', channelId },
          { kind: 'phone-transfers', channelId, target: { ...target, asked: 'x', refusal: null } },
          ...ofLine(session, channelId),
        ]
  const ofLeg: Input[] =
    base === undefined
      ? []
      : [
          { ...base, kind: 'hangup' },
          { ...base, kind: 'hold' },
          { ...base, kind: 'resume', how: isAttended ? 'talk' : 'connected', isInVain: false },
          { ...base, kind: 'answer', how: HOWS[cause % HOWS.length] ?? null, isInVain: false },
          { ...base, kind: 'completeTransfer' },
          {
            ...base,
            kind: 'transfer',
            correlationId: null,
            consultationCallId: isAttended ? newCallId() : null,
            target: { ...target, asked: 'x', refusal: cause === 1 ? 'badAddress' : null },
          },
          { kind: 'device-gone', agentUri: base.agentUri },
        ]
  const all: Input[] = [...ofChannel, ...ofLeg, { kind: 'listed', channels: [], hasRestarted: isAttended }]
  return all[what % all.length]
}

/** An agent's channel that was asked for is the open line instead. */
function ofLine({ channels }: PbxSession, channelId: string): Input[] {
  const channel = channels.find(({ id }) => id === channelId)
  if (channel?.origin === 'lent') {
    return [
      { kind: 'line-overdue', lineId: channelId },
      { kind: 'line-returned', lineId: channelId },
    ]
  }
  const isAgents = channel?.line.startsWith('sip:') === true
  if (!isAgents || channel.origin !== 'placed' || channel.state !== 'asked') return []
  return [{ kind: 'line-lent', channelId, lineId: `line of ${channel.line}`, ringMs: 30_000 }]
}

const START_MS = Date.UTC(2026, 0, 1)

const beginnings: readonly (() => Stepped)[] = [
  () =>
    beginDial(
      {
        tenant: 'acme',
        callId: newCallId(),
        caller: agent(ALICE),
        called: outside,
        commandId: newCommandId(),
        cli: null,
        correlationId: null,
        refusal: null,
        channelId: null,
      },
      START_MS,
    ),
  () =>
    beginDial(
      {
        tenant: 'acme',
        callId: newCallId(),
        caller: agent(ALICE),
        called: agent(BOB),
        commandId: null,
        cli: null,
        correlationId: null,
        refusal: null,
        channelId: 'phone-1',
      },
      START_MS,
    ),
  () =>
    beginArrival(
      {
        tenant: 'acme',
        callId: newCallId(),
        channelId: 'trunk-1',
        from: '+15559000',
        called: agent(ALICE),
        refusal: null,
      },
      START_MS,
    ),
]

/** Applies the wishes and checks the invariants after every step. */
function run(begin: () => Stepped, wishes: readonly Wish[]): PbxSession {
  const legs = new Map<string, Leg>()
  let stepped = begin()
  const check = (before: PbxSession | undefined): void => {
    const { session, actions } = stepped
    for (const report of session.group.legs.filter(({ order }) => order > (before?.group.step ?? 0))) {
      const key = `${report.callId} ${report.agentUri}`
      const leg = legs.get(key)
      if (leg !== undefined) {
        expect(leg.status.state).not.toBe(CallState.ended)
        if (leg.status.state !== report.state) expect(NEXT[leg.status.state]).toContain(report.state)
      }
      expect(report.ending !== null).toBe(report.state === CallState.ended)
      const next = applyReport(leg, report)
      if (next !== undefined) legs.set(key, next)
    }
    // No action names a channel that is gone, and no id is used twice, except that of an open line.
    const gone = new Set(session.channels.filter(({ state }) => state === 'gone').map(({ id }) => id))
    const known = new Set(before?.channels.map(({ id }) => id))
    for (const action of actions) {
      if (action.kind === 'create') expect(known.has(action.channelId)).toBe(false)
      if (action.kind === 'move') expect(action.channelIds.filter((id) => gone.has(id))).toEqual([])
    }
    // An agent's phone joins no bridge before it is answered.
    const phones = session.channels.filter(({ origin, line }) => origin === 'placed' && line.startsWith('sip:'))
    const ringing = phones.filter(({ state }) => state !== 'up').map(({ id }) => id)
    const joined = actions.flatMap((action) => (action.kind === 'move' ? action.channelIds : []))
    expect(joined.filter((id) => ringing.includes(id))).toEqual([])
    // A call never ends an agent's line.
    const lent = new Set(session.channels.filter(({ origin }) => origin === 'lent').map(({ id }) => id))
    expect(actions.filter((action) => action.kind === 'drop' && lent.has(action.channelId))).toEqual([])
    // A party has one channel at a time.
    const lines = session.channels.filter((one) => isLive(one) && !one.isLeaving).map(({ line }) => line)
    expect(new Set(lines).size).toBe(lines.length)
  }
  check(undefined)
  for (const [at, one] of wishes.entries()) {
    const before = stepped.session
    const input = inputOf(before, one)
    if (input === undefined) continue
    stepped = step(before, input, START_MS + (at + 1) * 3_000)
    check(before)
  }
  return stepped.session
}

/** Asterisk ends every channel that it was asked to end, and lines leave their calls. */
function endLeaving(session: PbxSession): PbxSession {
  return session.channels
    .filter((one) => isLive(one) && one.isLeaving)
    .reduce((now, { id, origin }) => {
      const ended: Input =
        origin === 'lent'
          ? { kind: 'line-returned', lineId: id }
          : { kind: 'gone', channelId: id, cause: 16, sipCode: null }
      return step(now, ended, START_MS).session
    }, session)
}

test('every leg moves as the call model allows, and ends once, for every order of inputs', () => {
  fc.assert(
    fc.property(fc.constantFrom(...beginnings), fc.array(wish, { maxLength: 25 }), (begin, wishes) => {
      run(begin, wishes)
    }),
    { numRuns: 300 },
  )
})

test('when Asterisk has lost every channel, each leg has ended and nothing is left', () => {
  fc.assert(
    fc.property(fc.constantFrom(...beginnings), fc.array(wish, { maxLength: 25 }), (begin, wishes) => {
      const before = run(begin, wishes)
      const lost = step(before, { kind: 'listed', channels: [], hasRestarted: true }, START_MS + 1_000_000)
      const again = step(lost.session, { kind: 'listed', channels: [], hasRestarted: true }, START_MS + 2_000_000)
      const session = endLeaving(again.session)
      expect(session.group.legs.filter(({ state }) => state !== CallState.ended)).toEqual([])
      expect(isFinished(session)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('when every party hangs up, each leg has ended, and every channel and bridge is gone', () => {
  fc.assert(
    fc.property(fc.constantFrom(...beginnings), fc.array(wish, { maxLength: 25 }), (begin, wishes) => {
      let session = run(begin, wishes)
      for (let round = 0; round < 12; round += 1) {
        for (const { id } of session.channels.filter(isLive)) {
          session = step(session, { kind: 'gone', channelId: id, cause: 16, sipCode: null }, START_MS + 500_000).session
        }
      }
      expect(session.group.legs.filter(({ state }) => state !== CallState.ended)).toEqual([])
      expect(isFinished(session)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('an input that comes twice changes nothing the second time', () => {
  fc.assert(
    fc.property(fc.constantFrom(...beginnings), fc.array(wish, { maxLength: 20 }), wish, (begin, wishes, last) => {
      const before = run(begin, wishes)
      const input = inputOf(before, last)
      if (input === undefined || ('commandId' in input && input.commandId === null)) return
      // An agent may ask for one more transfer at the phone; it is declined.
      if (input.kind === 'phone-transfers' || input.kind === 'listed') return
      const once = step(before, input, START_MS + 100_000).session
      const twice = step(once, input, START_MS + 100_000).session
      expect(twice.group.legs).toEqual(once.group.legs)
    }),
    { numRuns: 300 },
  )
})
