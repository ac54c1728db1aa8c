import { CallState } from '@switchhook/contracts'
import { applyReport, type Leg, NEXT } from '@switchhook/platform'
import fc from 'fast-check'
import type { Input } from './input.ts'
import { isFinished, isLive, type PbxSession } from './session.ts'
import { type Stepped, step } from './step.ts'
import { beginnings, inputOf, START_MS, type Wish, wish } from './testing/random-session.ts'

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
