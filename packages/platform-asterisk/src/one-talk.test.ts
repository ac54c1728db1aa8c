import { RealTimeMemory } from '@switchhook/conformance'
import { type CallId, CallState, newCallId, newCommandId } from '@switchhook/contracts'
import { createOneTalk } from '@switchhook/platform'
import { beginArrival } from './session/begin.ts'
import type { Input } from './session/input.ts'
import { createSessionStore } from './store/session-store.ts'
import { createSessions, type Sessions } from './store/sessions.ts'

const ALICE = 'sip:alice@acme.example'
const tenant = 'acme'
const { alerting, connected, held } = CallState

let memory: RealTimeMemory
let sessions: Sessions
/** Of another process, for the same calls. */
let otherSessions: Sessions
let calls: readonly [CallId, CallId]
let checks: Promise<void>[]

beforeEach(async () => {
  memory = new RealTimeMemory()
  calls = [newCallId(), newCallId()]
  checks = []
  // Nothing has been reported since both calls rang.
  const liveCalls = async () => calls.map((callId) => ({ callId, state: alerting }))
  const none = (): undefined => undefined
  const ofOneProcess = (): Sessions => {
    const own = createSessions({
      store: createSessionStore(memory),
      carryOut: async () => undefined,
      listener: none,
      liveCalls,
      onError: (message, cause) => void checks.push(Promise.reject(new Error(message, { cause }))),
      onUnsettled: none,
      onConnected: (leg) => void checks.push(oneTalk(leg)),
      now: Date.now,
    })
    const oneTalk = createOneTalk({ ...own, legsOf: (_tenant, callId) => legsOf(callId), liveCalls })
    return own
  }
  sessions = ofOneProcess()
  otherSessions = ofOneProcess()
  const called = { kind: 'agent', agentUri: ALICE, device: null } as const
  for (const callId of calls) {
    const arrival = { tenant, callId, channelId: `${callId}-caller`, from: '+15559000', called, refusal: null }
    await sessions.begin(beginArrival(arrival, Date.now()))
    await apply(callId, { kind: 'ringing', channelId: `${callId}-2` })
  }
})
afterEach(() => memory.close())

const apply = (callId: CallId, input: Input): Promise<boolean> => sessions.apply(tenant, callId, input)
const answers = (callId: CallId, by = sessions) =>
  by.apply(tenant, callId, { kind: 'ready', channelId: `${callId}-2`, isUp: true })
const byAlice = (callId: CallId) => ({ callId, agentUri: ALICE, commandId: newCommandId() })

const legsOf = async (callId: CallId) => (await sessions.find(tenant, callId))?.group.legs ?? []

/** The states of alice's legs, once all that follows has been done. */
async function states(): Promise<readonly (CallState | undefined)[]> {
  for (const check of checks) await check
  const legs = calls.map(async (callId) => (await legsOf(callId))[0]?.state)
  return Promise.all(legs)
}

/** Alice transfers the call to a number that does not answer. `returns` ends the ringing. */
async function transferred(callId: CallId): Promise<() => Promise<boolean>> {
  await answers(callId)
  const target = { kind: 'outside', address: '+15550102', asked: '+15550102', refusal: null } as const
  const how = { correlationId: null, consultationCallId: null, target }
  await apply(callId, { kind: 'transfer', ...byAlice(callId), ...how })
  const ringing = (await sessions.find(tenant, callId))?.channels.find(({ line }) => line.endsWith('-3'))
  return () => apply(callId, { kind: 'gone', channelId: ringing?.id ?? '', cause: 19, sipCode: null })
}

test('a phone that answers after a transferred call has returned: the returned call is held', async () => {
  const returns = await transferred(calls[0])
  await apply(calls[1], { kind: 'answer', ...byAlice(calls[1]), how: 'talk', isInVain: false })
  await returns()
  expect(await states()).toEqual([connected, alerting])
  await answers(calls[1])
  expect(await states()).toEqual([held, connected])
})

test('a transferred call that returns while an answered call is not reported yet is held', async () => {
  const returns = await transferred(calls[0])
  await answers(calls[1])
  await returns()
  expect(await states()).toEqual([held, connected])
})

test('of two calls that are connected at the same time, exactly one is held', async () => {
  await Promise.all(calls.map((callId) => answers(callId)))
  expect(new Set(await states())).toEqual(new Set([connected, held]))
})

test('of two calls that two processes connect at the same time, exactly one is held', async () => {
  await Promise.all([answers(calls[0]), answers(calls[1], otherSessions)])
  expect(new Set(await states())).toEqual(new Set([connected, held]))
})

test('so it is if one of them returns from a transfer: the returned call is held', async () => {
  const returns = await transferred(calls[0])
  await Promise.all([returns(), answers(calls[1], otherSessions)])
  expect(await states()).toEqual([held, connected])
})

test('a call that the phone resumes itself leaves the others as they are', async () => {
  await answers(calls[0])
  await apply(calls[0], { kind: 'phone-holds', channelId: `${calls[0]}-2` })
  await answers(calls[1])
  await apply(calls[0], { kind: 'phone-resumes', channelId: `${calls[0]}-2` })
  expect(await states()).toEqual([connected, connected])
})
