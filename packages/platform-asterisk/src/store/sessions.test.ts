import { RealTimeMemory } from '@switchhook/conformance'
import { CallState, newCallId, newCommandId, Unavailable } from '@switchhook/contracts'
import { PlatformUnavailable, type Surroundings } from '@switchhook/platform'
import { eventually } from '@switchhook/testkit'
import type { SessionName } from '../ari/channel-mark.ts'
import type { Action } from '../session/action.ts'
import { beginDial } from '../session/begin.ts'
import type { Input } from '../session/input.ts'
import { createSessionStore, type SessionStore } from './session-store.ts'
import { createSessions, type Sessions } from './sessions.ts'

const ALICE = 'sip:alice@acme.example'
const tenant = 'acme'
const noAnswer = new Unavailable('redis', 'the connection was cut')

type Write = (...change: Parameters<SessionStore['save']>) => ReturnType<SessionStore['save']>

let memory: RealTimeMemory
let store: SessionStore
let sessions: Sessions
/** What the next write does. */
let write: Write
let carriedOut: Action['kind'][]
/** What Asterisk answers to an action. */
let answerTo: (action: Action) => Input | undefined
let unsettled: SessionName[]
let errors: string[]
let listener: ReturnType<Surroundings['listener']>
/** The parties who were reported as connected. */
let connected: string[]
let callId: ReturnType<typeof newCallId>

beforeEach(() => {
  memory = new RealTimeMemory()
  store = createSessionStore(memory)
  write = stored
  carriedOut = []
  answerTo = () => undefined
  unsettled = []
  errors = []
  listener = undefined
  connected = []
  callId = newCallId()
  sessions = createSessions({
    store: {
      ...store,
      save(...change) {
        const once = write
        write = stored
        return once(...change)
      },
    },
    carryOut: async (_session, action) => {
      carriedOut.push(action.kind)
      return answerTo(action)
    },
    listener: () => listener,
    liveCalls: async () => [],
    onError: (message) => void errors.push(message),
    onUnsettled: (session) => void unsettled.push(session),
    onConnected: ({ agentUri }) => void connected.push(agentUri),
    now: Date.now,
  })
})
afterEach(() => memory.close())

const stored: Write = (...change) => store.save(...change)
const lost: Write = () => Promise.reject(noAnswer)
/** Executed, but Redis cannot be read for as long as `memory.outage` is set. */
const unknown: Write = async (...change) => {
  await store.save(...change)
  memory.outage = noAnswer
  throw noAnswer
}
const executed: Write = async (...change) => {
  await store.save(...change)
  throw noAnswer
}

function dial(): Promise<void> {
  const caller = { kind: 'agent', agentUri: ALICE, device: null } as const
  const called = { kind: 'outside', address: '+15550100' } as const
  const ends = { tenant, callId, caller, called, refusal: null, channelId: null }
  return sessions.begin(beginDial({ ...ends, commandId: newCommandId(), cli: null, correlationId: null }, Date.now()))
}
const apply = (input: Input): Promise<boolean> => sessions.apply(tenant, callId, input)
const hangup = (): Promise<boolean> => apply({ kind: 'hangup', callId, agentUri: ALICE, commandId: newCommandId() })
const state = async () => (await sessions.find(tenant, callId))?.group.legs[0]?.state

describe.each<[string, () => Promise<unknown>, Action['kind'], CallState | undefined]>([
  ['a dial', dial, 'create', undefined],
  ['a command', hangup, 'drop', CallState.initiated],
])('%s whose write gets no answer', (_what, command, action, before) => {
  beforeEach(async () => {
    if (command !== dial) await dial()
    carriedOut = []
  })

  test('is not carried out, and certainly so, if it was not stored', async () => {
    write = lost
    await expect(command()).rejects.toThrow(PlatformUnavailable)
    expect([carriedOut, await state()]).toEqual([[], before])
    await command()
    expect(carriedOut).toEqual([action])
  })

  test('is carried out if it was stored', async () => {
    write = executed
    await command()
    expect(carriedOut).toEqual([action])
  })

  test('is carried out if it was stored, and Redis can be read again soon', async () => {
    write = unknown
    const given = command()
    await eventually(() => expect(memory.refusedReads).toBeGreaterThan(0))
    memory.outage = undefined
    await given
    expect(carriedOut).toEqual([action])
  })

  test('is not carried out while Redis does not say whether it was stored', async () => {
    write = async () => {
      memory.outage = noAnswer
      throw noAnswer
    }
    await expect(command()).rejects.toBe(noAnswer)
    expect(carriedOut).toEqual([])
  })
})

test('who is connected is told although it is not known whether the step was stored', async () => {
  await dial()
  await apply({ kind: 'ready', channelId: `${callId}-2`, isUp: true })
  await apply({ kind: 'ready', channelId: `${callId}-3`, isUp: false })
  write = unknown
  await expect(apply({ kind: 'up', channelId: `${callId}-3` })).rejects.toBe(noAnswer)
  expect(connected).toEqual([ALICE])
})

test('a command is applied to the step that another process has stored instead', async () => {
  await dial()
  write = async () => {
    const found = await store.load(tenant, callId)
    if (found === undefined) throw new Error('the call is not stored')
    await store.save({ ...found.session, named: 7 }, found.version, [], found.session.group.calls)
    throw noAnswer
  }
  await hangup()
  expect(await sessions.find(tenant, callId)).toMatchObject({ named: 7, group: { legs: [{ state: CallState.ended }] } })
})

test('a command is accepted although what follows from it cannot be stored', async () => {
  await dial()
  answerTo = ({ kind }) => {
    if (kind !== 'drop') return undefined
    memory.outage = noAnswer
    return { kind: 'gone', channelId: `${callId}-2`, cause: 16, sipCode: null }
  }
  expect(await hangup()).toBe(true)
  expect(unsettled).toEqual([{ tenant, sessionId: callId }])
  expect(errors).toEqual(['an action on a call failed'])
})

test('a phone that cannot be told how its transfer ended does not delay the parties', async () => {
  await dial()
  for (const nth of [2, 3]) await apply({ kind: 'ready', channelId: `${callId}-${nth}`, isUp: true })
  const target = { kind: 'outside', address: '+15550101', asked: '+15550101', refusal: null } as const
  await apply({ kind: 'phone-transfers', channelId: `${callId}-2`, target })
  answerTo = ({ kind }) => {
    if (kind === 'transfer-progress') throw new Error('Asterisk does not handle the requests of the phone')
    return undefined
  }
  carriedOut = []
  await apply({ kind: 'ready', channelId: `${callId}-5`, isUp: true })
  expect(carriedOut).toEqual(['transfer-progress', 'drop', 'move', 'drop-bridge'])
  expect(unsettled).toEqual([])
  expect(errors).toEqual(['an action on a call failed'])
})

test('a call that could not be reported is soon reported again', async () => {
  listener = { legs: () => Promise.reject(noAnswer), device: async () => {} }
  await dial()
  expect(unsettled).toEqual([{ tenant, sessionId: callId }])
  expect(errors).toEqual(['a call could not be reported, will try again'])
})
