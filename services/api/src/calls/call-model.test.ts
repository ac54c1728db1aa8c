import {
  CallState,
  type CallStatus,
  callStatusSchema,
  compileSchema,
  Direction,
  EndedBy,
  EndReason,
  newCallId,
  newCommandId,
  PartyType,
  Role,
} from '@switchhook/contracts'
import type { Fact } from '@switchhook/platform'
import fc from 'fast-check'
import { applyFact, type Call, isLive } from './call-model.ts'

const callId = newCallId()
const commandId = newCommandId()
const AGENT = 'sip:alice@acme.example'
const OTHER = 'sip:bob@acme.example'

const call: Call = {
  callId,
  tenant: 'acme',
  originator: AGENT,
  cli: '+15550199',
  correlationId: 'crm-4711',
  dialCommandId: commandId,
  createdAt: '2026-01-01T00:00:00.000Z',
  legs: {},
}

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
const base = (second: number, agentUri = AGENT) => ({ tenant: 'acme', callId, agentUri, at: at(second), commandId })
const opened = (second: number, agentUri = AGENT, direction: Direction = Direction.outbound): Fact => ({
  ...base(second, agentUri),
  kind: 'opened',
  direction,
  role: Role.originator,
  internal: false,
  remoteParty: { uri: 'tel:+15550100', number: '+15550100', name: null, type: PartyType.external },
  device: 'SIM/alice',
})
const proceeding = (second: number, agentUri = AGENT): Fact => ({ ...base(second, agentUri), kind: 'proceeding' })
const connected = (second: number, agentUri = AGENT): Fact => ({ ...base(second, agentUri), kind: 'connected' })
const ended = (second: number, agentUri = AGENT): Fact => ({
  ...base(second, agentUri),
  kind: 'ended',
  endReason: EndReason.normal,
  endedBy: EndedBy.agent,
  cause: 16,
  sipCode: null,
})

/** Applies facts in turn; answers the call and the events that they made. */
function tell(...facts: Fact[]): { call: Call; events: CallStatus[] } {
  const events: CallStatus[] = []
  let present = call
  for (const fact of facts) {
    const applied = applyFact(present, fact)
    if (applied === undefined) continue
    present = applied.call
    events.push(applied.status)
  }
  return { call: present, events }
}

describe('applyFact', () => {
  test('an answered outbound call goes 1, 8, 3, 7 with a gapless sequence', () => {
    const { events } = tell(opened(0), proceeding(1), connected(2), ended(65))
    expect(events.map(({ state, previousState, sequence }) => [previousState, state, sequence])).toEqual([
      [CallState.unknown, CallState.initiated, 1],
      [CallState.initiated, CallState.proceeding, 2],
      [CallState.proceeding, CallState.connected, 3],
      [CallState.connected, CallState.ended, 4],
    ])
  })

  test('every event is a full snapshot that carries what the dial said', () => {
    const { events } = tell(opened(0), proceeding(1), connected(2), ended(65))
    for (const event of events) {
      expect(event).toMatchObject({
        callId,
        agentUri: AGENT,
        cli: '+15550199',
        correlationId: 'crm-4711',
        commandId,
        startedAt: at(0),
      })
    }
    expect(events.at(-1)).toMatchObject({
      answeredAt: at(2),
      endedAt: at(65),
      occurredAt: at(65),
      durationSeconds: 63,
      endReason: EndReason.normal,
      endedBy: EndedBy.agent,
      cause: 16,
    })
  })

  test('every event is what the event document promises', () => {
    const check = compileSchema<CallStatus>(callStatusSchema)
    const { events } = tell(opened(0), proceeding(1), connected(2), ended(65))
    expect(events.map((event) => check(event))).toEqual(events.map((value) => ({ ok: true, value })))
    for (const event of events) expect(Object.keys(event)).toEqual(Object.keys(callStatusSchema.properties))
  })

  test('a call that was never answered lasted no time', () => {
    expect(tell(opened(0), proceeding(1), ended(30)).events.at(-1)).toMatchObject({
      answeredAt: null,
      durationSeconds: 0,
    })
  })

  test('an inbound leg begins by alerting', () => {
    expect(tell(opened(0, AGENT, Direction.inbound)).events).toMatchObject([{ state: CallState.alerting, sequence: 1 }])
  })

  test.each<[string, Fact[]]>([
    [
      'told twice',
      [opened(0), opened(0), proceeding(1), proceeding(1), connected(2), connected(2), ended(3), ended(3)],
    ],
    ['told late', [opened(0), proceeding(1), connected(2), proceeding(1), ended(3), connected(2), opened(0)]],
  ])('a fact that was %s changes nothing', (_name, facts) => {
    expect(tell(...facts).events.map(({ state }) => state)).toEqual([1, 8, 3, 7])
  })

  test('two agents in one call have a stream of their own each', () => {
    const { events } = tell(opened(0), proceeding(1), opened(1, OTHER, Direction.inbound), ended(2, OTHER), ended(2))
    expect(events.filter(({ agentUri }) => agentUri === OTHER).map(({ sequence }) => sequence)).toEqual([1, 2])
    expect(events.filter(({ agentUri }) => agentUri === AGENT).map(({ sequence }) => sequence)).toEqual([1, 2, 3])
  })

  test('a call is live from its first leg on, until its last one has ended', () => {
    expect(isLive(call)).toBe(false)
    expect(isLive(tell(opened(0), opened(1, OTHER), ended(2)).call)).toBe(true)
    expect(isLive(tell(opened(0), opened(1, OTHER), ended(2), ended(2, OTHER)).call)).toBe(false)
  })

  test('in whatever order facts arrive: gapless sequence, one end per leg, nothing after it, only steps of the table', () => {
    const steps = new Set(['0>1', '0>2', '1>8', '1>3', '1>7', '2>3', '2>7', '8>3', '8>7', '3>7'])
    const anyFact = fc
      .tuple(fc.constantFrom(opened, proceeding, connected, ended), fc.nat({ max: 59 }), fc.constantFrom(AGENT, OTHER))
      .map(([fact, second, agentUri]) => fact(second, agentUri))
    fc.assert(
      fc.property(fc.array(anyFact, { maxLength: 30 }), (facts) => {
        const { events } = tell(...facts)
        for (const agentUri of [AGENT, OTHER]) {
          const leg = events.filter((event) => event.agentUri === agentUri)
          expect(leg.map(({ sequence }) => sequence)).toEqual(leg.map((_event, index) => index + 1))
          expect(leg.slice(0, -1).every(({ state }) => state !== CallState.ended)).toBe(true)
          expect(leg.every(({ previousState, state }) => steps.has(`${previousState}>${state}`))).toBe(true)
        }
      }),
    )
  })
})
