import { EndedBy, EndReason, newCallId, newCommandId } from '@switchhook/contracts'
import fc from 'fast-check'
import type { Fact } from '../platform.ts'
import { type Cue, play, type SimulatedCall } from './simulated-call.ts'

const AT = '2026-01-01T00:00:00.000Z'
const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'

const dialled = (destination: string, callee: string | null = null): SimulatedCall => ({
  tenant: 'acme',
  callId: newCallId(),
  commandId: newCommandId(),
  caller: ALICE,
  callerDevice: 'SIM/alice',
  destination,
  callee: callee === null ? null : { agentUri: callee, device: null },
  cli: null,
  phase: 'dialled',
})

const hangup = (agentUri: string): Cue => ({ kind: 'agent-hangup', agentUri, commandId: newCommandId() })

/** Lets the clock play a call to its end, and says what was told, by whom, and after how long. */
function watch(start: SimulatedCall): { told: string[]; elapsedMs: number } {
  const told: string[] = []
  let elapsedMs = 0
  let call = start
  let cue: Cue | undefined = { kind: 'seize' }
  while (cue !== undefined) {
    const step = play(call, cue, AT)
    told.push(...step.facts.map(say))
    elapsedMs += step.next?.afterMs ?? 0
    call = step.call
    cue = step.next?.cue
  }
  return { told, elapsedMs }
}

const say = (fact: Fact): string => {
  const who = fact.agentUri === ALICE ? 'alice' : 'bob'
  return fact.kind === 'ended' ? `${who} ended ${fact.endReason} by ${fact.endedBy}` : `${who} ${fact.kind}`
}

describe('the life of a simulated call', () => {
  test.each<[string, SimulatedCall, string[], number]>([
    [
      'the number that answers after a second, and hangs up when it is forgotten',
      dialled('+15550100'),
      ['alice opened', 'alice proceeding', 'alice connected', `alice ended ${EndReason.normal} by ${EndedBy.remote}`],
      300 + 1_000 + 180_000,
    ],
    [
      'the busy number',
      dialled('+15550101'),
      ['alice opened', `alice ended ${EndReason.busy} by ${EndedBy.remote}`],
      300,
    ],
    [
      'the number that never answers',
      dialled('+15550102'),
      ['alice opened', 'alice proceeding', `alice ended ${EndReason.noAnswer} by ${EndedBy.system}`],
      300 + 30_000,
    ],
    [
      'the bad address',
      dialled('+15550103'),
      ['alice opened', `alice ended ${EndReason.badAddress} by ${EndedBy.remote}`],
      300,
    ],
    [
      'something that is no number',
      dialled('mailto:nobody@nowhere.example'),
      ['alice opened', `alice ended ${EndReason.badAddress} by ${EndedBy.remote}`],
      300,
    ],
    [
      'another agent, who does not answer',
      dialled(BOB, BOB),
      [
        'alice opened',
        'alice proceeding',
        'bob opened',
        `alice ended ${EndReason.noAnswer} by ${EndedBy.system}`,
        `bob ended ${EndReason.noAnswer} by ${EndedBy.system}`,
      ],
      300 + 30_000,
    ],
  ])('%s', (_name, call, told, elapsedMs) => {
    expect(watch(call)).toEqual({ told, elapsedMs })
  })

  test.each(['+1 (555) 0101', 'tel:+15550101', 'tel:+1-555-0101'])('%s is the busy number, too', (destination) => {
    expect(watch(dialled(destination)).told).toContain(`alice ended ${EndReason.busy} by ${EndedBy.remote}`)
  })
})

describe('hanging up', () => {
  test.each<[string, SimulatedCall, string, string[]]>([
    ['before the switch has begun', dialled('+15550100'), ALICE, ['alice opened', 'alice ended 5 by 1']],
    ['while the far end rings', { ...dialled('+15550100'), phase: 'ringing' }, ALICE, ['alice ended 5 by 1']],
    ['in conversation', { ...dialled('+15550100'), phase: 'talking' }, ALICE, ['alice ended 1 by 1']],
    [
      'by the caller while a colleague rings',
      { ...dialled(BOB, BOB), phase: 'ringing' },
      ALICE,
      ['alice ended 5 by 1', 'bob ended 5 by 2'],
    ],
    [
      'by the colleague who rings',
      { ...dialled(BOB, BOB), phase: 'ringing' },
      BOB,
      ['alice ended 6 by 2', 'bob ended 6 by 1'],
    ],
    ['when it is over', { ...dialled('+15550100'), phase: 'over' }, ALICE, []],
  ])('%s', (_name, call, agentUri, told) => {
    expect(play(call, hangup(agentUri), AT).facts.map(say)).toEqual(told)
  })
})

test('whatever befalls a call in whatever order, each leg opens once and ends at most once, after it has opened', () => {
  const cue = fc.constantFrom<Cue>(
    { kind: 'seize' },
    { kind: 'route' },
    { kind: 'answer' },
    { kind: 'ring-out' },
    { kind: 'remote-hangup' },
    hangup(ALICE),
    hangup(BOB),
  )
  fc.assert(
    fc.property(fc.array(cue, { maxLength: 20 }), fc.boolean(), (cues, internal) => {
      let call = internal ? dialled(BOB, BOB) : dialled('+15550100')
      const told: Fact[] = []
      for (const next of cues) {
        const step = play(call, next, AT)
        told.push(...step.facts)
        call = step.call
      }
      for (const agentUri of [ALICE, BOB]) {
        const kinds = told.filter((fact) => fact.agentUri === agentUri).map((fact) => fact.kind)
        expect(kinds.filter((kind) => kind === 'opened').length).toBe(kinds.length > 0 ? 1 : 0)
        expect(kinds.slice(0, 1)).toEqual(kinds.length > 0 ? ['opened'] : [])
        expect(kinds.indexOf('ended')).toBe(kinds.includes('ended') ? kinds.length - 1 : -1)
      }
    }),
  )
})
