import { type CallId, newCallId, Unavailable } from '@switchhook/contracts'
import { bridgeName } from '../actions/carry-out.ts'
import type { AriChannel } from '../ari/ari-model.ts'
import { MARK_VARIABLE, markOf } from '../ari/channel-mark.ts'
import { newChannel, newSession } from '../session/session.ts'
import type { Loaded } from '../store/session-store.ts'
import { createLeftovers, MAX_AT_ONCE, MIN_ROUNDS, MIN_UNKNOWN_MS, type UnknownChannels } from './leftovers.ts'

const APP = 'test'
let nowMs: number
let stored: Map<CallId, Loaded>
let removed: string[]
/** Channels that Asterisk only lists. */
let ended: string[]
let unknown: UnknownChannels[]
let verifyStorage: () => Promise<void>
let round: ReturnType<typeof createLeftovers>

beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 1)
  stored = new Map()
  removed = []
  ended = []
  unknown = []
  verifyStorage = async () => {}
  round = createLeftovers({
    app: APP,
    ari: {
      request: async (method, path) => {
        if (method === 'DELETE') removed.push(path)
        return { status: ended.some((id) => path.startsWith(`/channels/${id}/`)) ? 404 : 200, body: undefined }
      },
    },
    store: {
      load: async (_tenant, callId) => stored.get(callId),
      unfinished: async () => [...stored.keys()].map((sessionId) => ({ tenant: 'acme', sessionId })),
    },
    verifyStorage: () => verifyStorage(),
    onUnknown: (found) => void unknown.push(found),
    now: () => nowMs,
  })
})

/** A call with one channel in Asterisk. It is stored, too. */
function aCall(): AriChannel {
  const sessionId = newCallId()
  const id = `${sessionId}-1`
  const group = { tenant: 'acme', sessionId, step: 1, calls: {}, legs: [], commands: [] }
  const channel = newChannel({ id, line: 'sip:alice@acme.example', origin: 'placed', askedAtMs: nowMs })
  stored.set(sessionId, { session: { ...newSession(group, 1), channels: [channel] }, version: 1 })
  return {
    id,
    name: `PJSIP/${id}`,
    state: 'Up',
    creationtime: '',
    caller: { name: '', number: '' },
    dialplan: { app_name: 'Stasis', app_data: APP },
    channelvars: { [MARK_VARIABLE]: markOf(APP, { tenant: 'acme', sessionId }) },
  }
}

const aBridge = (id: string, channels: readonly string[] = [], type = 'mixing') => ({
  id,
  name: bridgeName(APP),
  bridge_type: type,
  channels,
})

/** Rounds over more than the time after which a leftover is removed. */
async function rounds(
  channels: readonly AriChannel[],
  bridges: readonly string[][] = [],
  type = 'mixing',
): Promise<void> {
  const found = bridges.map((ids, at) => aBridge(`bridge-${at}`, ids, type))
  for (let done = 0; done <= MIN_ROUNDS; done += 1) {
    await round({ channels: channels.filter(({ id }) => !removed.includes(`/channels/${id}`)), bridges: found })
    nowMs += MIN_UNKNOWN_MS / 2
  }
}

test('the channel of a stored call stays, and one of a forgotten call is removed after several rounds', async () => {
  const leftover = aCall()
  stored.clear()
  const found = { channels: [aCall(), leftover], bridges: [] }
  await round(found)
  await round(found)
  expect([removed, unknown.at(-1)]).toEqual([[], { count: 1, isHeldBack: false }])
  nowMs += MIN_UNKNOWN_MS
  await round(found)
  expect(removed).toEqual([`/channels/${leftover.id}`])
})

test('a channel that Asterisk lists and does not find is not unknown, and keeps no other one of its call', async () => {
  const agent = aCall()
  const other = { ...agent, id: 'other' }
  ended = ['other']
  stored.clear()
  await rounds([agent, other])
  expect([removed, unknown[0]]).toEqual([[`/channels/${agent.id}`], { count: 1, isHeldBack: false }])
})

test('after Redis has lost its data, nothing is removed, however long that lasts', async () => {
  const calls = [aCall(), aCall()]
  const kept = new Map(stored)
  stored.clear()
  verifyStorage = () => Promise.reject(new Unavailable('redis', 'Redis lost its data'))
  for (let hours = 0; hours < 3; hours += 1) {
    await expect(round({ channels: calls, bridges: [] })).rejects.toBeInstanceOf(Unavailable)
    nowMs += 3_600_000
  }
  // The rounds without the data do not count.
  verifyStorage = async () => {}
  await round({ channels: calls, bridges: [] })
  for (const [callId, call] of kept) stored.set(callId, call)
  await rounds(calls)
  expect(removed).toEqual([])
})

test('after an older state of Redis was restored, the people in the calls that it lacks go on talking', async () => {
  const [agent, customer] = [aCall(), aCall()]
  stored.clear()
  await rounds([agent, customer], [[agent.id, customer.id]])
  expect([removed, unknown.at(-1)]).toEqual([[], { count: 2, isHeldBack: false }])
  // The customer hangs up. The agent's channel is a leftover now.
  await rounds([agent], [[agent.id]])
  expect(removed).toEqual([`/channels/${agent.id}`])
})

test('after an older state of Redis was restored, the people in a call on hold stay, each alone in a bridge', async () => {
  const agent = aCall()
  const customer = { ...agent, id: 'customer' }
  stored.clear()
  await rounds([agent, customer], [[agent.id], [customer.id]])
  expect([removed, unknown.at(-1)]).toEqual([[], { count: 2, isHeldBack: false }])
  // The customer hangs up. The agent's channel is a leftover now.
  await rounds([agent], [[agent.id]])
  expect(removed).toEqual([`/channels/${agent.id}`])
})

test('after an older state of Redis was restored, a customer on hold stays, whose agent keeps a line open', async () => {
  const customer = aCall()
  stored.clear()
  await rounds([customer], [[customer.id]], 'holding')
  expect([removed, unknown.at(-1)]).toEqual([[], { count: 1, isHeldBack: false }])
})

test('many channels that no stored call knows are left to an operator', async () => {
  const calls = Array.from({ length: MAX_AT_ONCE + 1 }, aCall)
  stored.clear()
  await rounds(calls)
  expect([removed, unknown.at(-1)]).toEqual([[], { count: MAX_AT_ONCE + 1, isHeldBack: true }])
})

test('an empty bridge that no call uses is removed, and never without the data of Redis', async () => {
  verifyStorage = () => Promise.reject(new Unavailable('redis', 'Redis lost its data'))
  await expect(rounds([], [[]])).rejects.toBeInstanceOf(Unavailable)
  expect(removed).toEqual([])
  verifyStorage = async () => {}
  await round({ channels: [], bridges: [aBridge('bridge')] })
  expect(removed).toEqual(['/bridges/bridge'])
})
