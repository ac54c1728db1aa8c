import { RealTimeMemory } from '@switchhook/conformance'
import { CallState, newCallId, newCommandId } from '@switchhook/contracts'
import type { LegReport } from '@switchhook/platform'
import { beginArrival } from '../session/begin.ts'
import type { Input } from '../session/input.ts'
import { createSessionStore } from './session-store.ts'
import { createSessions } from './sessions.ts'

const ALICE = 'sip:alice@acme.example'
const tenant = 'acme'
const callId = newCallId()
const consultation = newCallId()
const gone: Input = { kind: 'gone', channelId: 'trunk', cause: 16, sipCode: null }

let memory: RealTimeMemory
let nowMs: number
let stops: (() => Promise<void>)[]

beforeEach(() => {
  memory = new RealTimeMemory()
  nowMs = Date.UTC(2026, 0, 1)
  stops = []
})
afterEach(async () => {
  memory.close()
  for (const stop of stops) await stop()
})

/** A process and what it reports. `isRefused`: its listener stores nothing. */
function aProcess({ isRefused = false } = {}) {
  const reports: LegReport[] = []
  const legs = async (given: readonly LegReport[]): Promise<void> => {
    if (isRefused) throw new Error('refused')
    reports.push(...given)
  }
  const none = (): undefined => undefined
  const sessions = createSessions({
    store: createSessionStore(memory),
    carryOut: async () => undefined,
    listener: () => ({ legs, device: async () => {} }),
    liveCalls: async () => [],
    onError: none,
    onUnsettled: none,
    onConnected: none,
    now: () => nowMs,
  })
  stops.push(() => sessions.stop())
  return {
    sessions,
    reported: () => reports.splice(0).map((leg) => [leg.callId, leg.state]),
    on: async (...inputs: readonly Input[]): Promise<void> => {
      for (const input of inputs) await sessions.apply(tenant, callId, input)
    },
    /** As the timer does that each step sets. */
    report: () => sessions.report(tenant, callId),
  }
}
type Process = ReturnType<typeof aProcess>

/** Alice answers a customer. */
async function answers({ sessions, on }: Process): Promise<void> {
  const called = { kind: 'agent', agentUri: ALICE, device: null } as const
  const arrival = { tenant, callId, channelId: 'trunk', from: '+15559000', called, refusal: null }
  await sessions.begin(beginArrival(arrival, nowMs))
  await on({ kind: 'ringing', channelId: `${callId}-2` }, { kind: 'ready', channelId: `${callId}-2`, isUp: true })
}

/** She consults a number, and cancels that. */
async function consults({ on }: Process): Promise<void> {
  const target = { kind: 'outside', address: '+15550102', asked: '+15550102', refusal: null } as const
  const how = { callId, agentUri: ALICE, correlationId: null, consultationCallId: consultation, target }
  const resume = { kind: 'resume', callId, agentUri: ALICE, commandId: newCommandId(), isInVain: false } as const
  await on({ kind: 'transfer', ...how, commandId: newCommandId() }, resume)
}

const endOf = (call: string) => [call, CallState.ended]

describe('an end that is recorded, in a call that goes on, is not reported by another process', () => {
  test('if a later step was stored', async () => {
    const first = aProcess()
    await answers(first)
    await consults(first)
    expect(first.reported()).toContainEqual(endOf(consultation))
    const hold = { kind: 'hold', callId, agentUri: ALICE, commandId: newCommandId() } as const
    await first.on(hold)

    const next = aProcess()
    await next.report()
    expect(next.reported()).toEqual([[callId, CallState.held]])
    await next.on(gone)
    expect(next.reported()).toEqual([endOf(callId)])
  })

  test('if the timer of its step has run, here or in a third process', async () => {
    const first = aProcess()
    await answers(first)
    await consults(first)
    const third = aProcess()
    await third.report()
    // So soon, the listener recognises the repeat.
    expect(third.reported()).toContainEqual(endOf(consultation))

    const next = aProcess()
    await next.report()
    expect(next.reported()).toEqual([[callId, CallState.connected]])
  })

  test('if the call is over too', async () => {
    const first = aProcess()
    await answers(first)
    await first.on(gone)
    await first.report()
    const next = aProcess()
    await next.report()
    expect(next.reported()).toEqual([])
  })
})

test('an end that could not be recorded is reported by the next process, however late', async () => {
  const dying = aProcess({ isRefused: true })
  await answers(dying)
  await consults(dying)
  await expect(dying.report()).rejects.toThrow('refused')

  const next = aProcess()
  nowMs += 60 * 60_000
  await next.report()
  expect(next.reported()).toEqual([[callId, CallState.connected], endOf(consultation)])
})

test('after the storage is restored to an older state, a new step with an earlier number is reported', async () => {
  const process = aProcess()
  await answers(process)
  const restore = memory.backUp()
  await consults(process)
  process.reported()

  restore()
  nowMs += 1_000
  await process.on(gone)
  expect(process.reported()).toEqual([endOf(callId)])
})
