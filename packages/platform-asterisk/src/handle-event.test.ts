import { RealTimeMemory } from '@switchhook/conformance'
import { CallState, EndReason, Unavailable } from '@switchhook/contracts'
import { createDevices, PlatformUnavailable } from '@switchhook/platform'
import { NotAnswered } from '@switchhook/runtime'
import { type PbxAgent, pbxAgents } from './agents.ts'
import type { AriClient } from './ari/ari-client.ts'
import type { AriChannel } from './ari/ari-model.ts'
import { arrivedCallId, lineSession, MARK_VARIABLE, markOf, type SessionName } from './ari/channel-mark.ts'
import type { PbxEvent } from './ari/translate-event.ts'
import { createHandler } from './handle-event.ts'
import { createOpenLines } from './open-lines.ts'
import { createParties } from './parties.ts'
import { createReconcile } from './reconcile.ts'
import type { Action } from './session/action.ts'
import { isFinished } from './session/session.ts'
import { createSessionStore } from './store/session-store.ts'
import { createSessions } from './store/sessions.ts'

const APP = 'test'
const ALICE = {
  agentUri: 'sip:alice@acme.example',
  tenant: 'acme',
  endpoint: 'alice',
  extension: '8101',
  answer: 'connected',
} as const satisfies PbxAgent
const LINE = lineSession(ALICE.tenant, ALICE.agentUri)

let memory: RealTimeMemory
/** Asterisk's channels. */
let channels: AriChannel[]
/** Those that Asterisk only lists. */
let ended: string[]
/** Those that are on hold at their phones. */
let onHold: string[]
/** Those that were claimed. */
let claimed: string[]
/** What Asterisk answers for a variable of any channel. */
let variables: Record<string, string>
/** What could not be done. Each test has to take it. */
let errors: string[]
/** Asterisk handles no requests of phones. */
let isStuck: boolean
let nowMs: number
let parts: ReturnType<typeof open>

function open() {
  const none = () => undefined
  const now = () => nowMs
  const liveCalls = async () => []
  const agents = pbxAgents([ALICE])
  const onError = (message: string): void => void errors.push(message)
  const answers: Readonly<Record<string, unknown>> = { '/asterisk/info': {}, '/bridges': [], '/endpoints/PJSIP': [] }
  const ari: AriClient = {
    request: async (_method, path, query) => {
      if (isStuck) throw new NotAnswered('Asterisk does not handle the requests of a phone')
      const isHeld = onHold.some((id) => path === `/channels/${id}/variable`)
      const held = isHeld ? '1' : '0'
      const wanted = query?.['variable']
      const value = wanted === undefined ? undefined : { 'CHANNEL(rtp,hold)': held, ...variables }[wanted]
      return {
        status: ended.some((id) => path === `/channels/${id}/variable`) ? 404 : 200,
        body: path === '/channels' ? channels : value === undefined ? answers[path] : { value },
      }
    },
    manager: async () => ({ text: '', cookie: null }),
    close: async () => {},
  }
  const store = createSessionStore(memory)
  const carryOut = async (_session: SessionName, action: Action) =>
    action.kind === 'claim' ? void claimed.push(action.channelId) : undefined
  const to = { listener: none, onError, onUnsettled: none, onConnected: none }
  const sessions = createSessions({ store, carryOut, liveCalls, now, ...to })
  const lines = createOpenLines({ agents, sessions, liveCalls, now })
  const devices = createDevices({
    storage: memory,
    onError,
    now,
    listener: none,
    prefix: { record: 'device', timer: 'device' },
    timerMs: 1,
  })
  const trunk = { endpoint: 'trunk', sipDomains: [] }
  const parties = createParties({ agents, trunk, defaultCli: '+15550100', liveCalls })
  const handle = createHandler({ agents, app: APP, ari, devices, lines, parties, sessions, onError, now })
  const reconcile = createReconcile({
    ari,
    app: APP,
    agents,
    store,
    sessions,
    handle,
    onError,
    removeLeftovers: async () => {},
    amongDevices: (work) => work(),
  })
  return { handle, reconcile, sessions }
}

beforeEach(() => {
  memory = new RealTimeMemory()
  channels = []
  ended = []
  onHold = []
  claimed = []
  variables = {}
  errors = []
  isStuck = false
  nowMs = Date.UTC(2026, 0, 1)
  parts = open()
})
afterEach(() => {
  memory.close()
  expect(errors).toEqual([])
})

const aChannel = (id: string, args: string, mark?: SessionName): AriChannel => ({
  id,
  name: `PJSIP/${id}`,
  state: 'Up',
  creationtime: '',
  caller: { name: '', number: '+15550199' },
  dialplan: { app_name: 'Stasis', app_data: `${APP},${args}` },
  ...(mark && { channelvars: { [MARK_VARIABLE]: markOf(APP, mark) } }),
})

const aLine = (id: string): AriChannel => aChannel(id, 'agent-line,alice', LINE)

const lineChannels = async () =>
  (await parts.sessions.find(LINE.tenant, LINE.sessionId))?.channels.map(({ id, state, isLeaving }) => {
    return isLeaving ? `${id} leaving` : `${id} ${state}`
  })

const opens = (id: string) => parts.handle({ kind: 'line-opens', channel: aChannel(id, ''), endpoint: 'alice' })

const phoneDials = (called: string, channel = aChannel('phone', '')) =>
  parts.handle({ kind: 'phone-dials', channel, endpoint: 'alice', called, asteriskId: 'pbx' })

test('the end of an unmarked channel that Redis could not store is stored when it is repeated, with its reason', async () => {
  const channel = { ...aChannel('phone', ''), state: 'Ring' }
  await phoneDials('+15550123', channel)
  const end: PbxEvent = {
    kind: 'channel',
    channel,
    input: { kind: 'gone', channelId: 'phone', cause: 17, sipCode: 486 },
  }
  memory.outage = new Unavailable('redis', 'Redis pauses')
  await expect(parts.handle(end)).rejects.toBeInstanceOf(PlatformUnavailable)
  memory.outage = undefined
  await parts.handle(end)
  const session = await parts.sessions.find('acme', arrivedCallId('pbx', channel))
  expect(session?.group.legs.map(({ ending }) => ending?.sipCode)).toEqual([486])
})

test('an agent who dials the own extension at the phone hears that it is busy', async () => {
  await phoneDials(ALICE.extension)
  const session = await parts.sessions.find('acme', arrivedCallId('pbx', aChannel('phone', '')))
  expect(session?.group.legs.map(({ ending }) => ending?.endReason)).toEqual([EndReason.busy])
})

test('a caller whom the dialplan has answered before, and who hangs up after the talk, has not cancelled', async () => {
  const [channel, input] = [aChannel('caller', ''), { channelId: 'caller', cause: 16, sipCode: null }]
  const callId = arrivedCallId('pbx', channel)
  await parts.handle({ kind: 'arrives', channel, called: ALICE.extension, asteriskId: 'pbx' })
  for (const kind of ['ringing', 'up'] as const)
    await parts.sessions.apply('acme', callId, { kind, channelId: `${callId}-2` })
  await parts.sessions.apply('acme', callId, { kind: 'ready', channelId: `${callId}-2`, isUp: true })
  await parts.handle({ kind: 'channel', channel, input: { kind: 'gone', ...input } })
  const session = await parts.sessions.find('acme', callId)
  expect(session?.group.legs.map(({ ending }) => ending?.endReason)).toEqual([EndReason.normal])
})

describe('the caller of a call that arrives', () => {
  const reported = async (caller: AriChannel['caller'], name = 'PJSIP/trunk-1') => {
    const channel = { ...aChannel('caller', ''), caller, name }
    await parts.handle({ kind: 'arrives', channel, called: ALICE.extension, asteriskId: 'pbx' })
    return (await parts.sessions.find('acme', arrivedCallId('pbx', channel)))?.group.calls
  }
  const ERIKA = { number: '+15550199', name: 'Erika' }
  const shown = (calls: unknown) => JSON.stringify(calls).match(/155501\d\d|Erika/g) ?? []

  test.each(['id', 'id;user', 'user; id', 'id;critical', 'user', 'Header;id'])(
    'is withheld by the header Privacy: %s',
    async (privacy) => {
      variables = { 'CALLERID(num-pres)': 'allowed_not_screened', 'PJSIP_HEADER(read,Privacy)': privacy }
      expect(shown(await reported(ERIKA))).toEqual([])
    },
  )

  test.each(['none', ''])('is not withheld by the header Privacy: %s', async (privacy) => {
    variables = { 'PJSIP_HEADER(read,Privacy)': privacy }
    expect(shown(await reported(ERIKA))).toEqual(['15550199', 'Erika'])
  })

  test('is not asked for a SIP header if the channel is none of SIP', async () => {
    variables = { 'PJSIP_HEADER(read,Privacy)': 'id' }
    expect(shown(await reported(ERIKA, 'DAHDI/i1/15550199-1'))).toEqual(['15550199', 'Erika'])
  })

  test('has no name if the number is "Anonymous"', async () => {
    const calls = JSON.stringify(await reported({ number: 'Anonymous', name: 'Anonymous' }))
    expect(calls).toContain('"address":"anonymous"')
    expect(calls).not.toContain('"Anonymous"')
  })
})

test('a call whose process died before it was claimed is claimed by a comparison, once', async () => {
  const channel = aChannel('phone', 'agent-dial,alice,+15550123')
  const sessionId = arrivedCallId('', channel)
  channels = [channel]
  await parts.reconcile.all()
  claimed = []
  await parts.reconcile.all()
  expect(claimed).toEqual(['phone'])
  channels = [aChannel('phone', 'agent-dial,alice,+15550123', { tenant: ALICE.tenant, sessionId })]
  await parts.reconcile.all()
  expect(claimed).toEqual(['phone'])
})

test('a phone whose resume was not reported is on hold until a comparison, and no longer', async () => {
  const caller = aChannel('caller', '')
  const callId = arrivedCallId('pbx', caller)
  const phone = `${callId}-2`
  await parts.handle({ kind: 'arrives', channel: caller, called: ALICE.extension, asteriskId: 'pbx' })
  await parts.sessions.apply('acme', callId, { kind: 'ready', channelId: phone, isUp: true })
  await parts.sessions.apply('acme', callId, { kind: 'phone-holds', channelId: phone })
  channels = [caller, aChannel(phone, 'agent')]
  const state = async () => {
    await parts.reconcile.all()
    return (await parts.sessions.find('acme', callId))?.group.legs[0]?.state
  }
  onHold = [phone]
  expect(await state()).toBe(CallState.held)
  onHold = []
  expect(await state()).toBe(CallState.connected)
})

test('a transfer whose phone cannot be told that it is declined is handled once', async () => {
  const channel = aChannel('phone', '')
  await phoneDials('+15550123', channel)
  isStuck = true
  const transfer = { kind: 'phone-transfers', at: 'now', channel } as const
  await parts.handle({ ...transfer, target: null })
  // The second copy of the event.
  await parts.handle({ ...transfer, target: null })
  expect(errors.splice(0)).toEqual(['a phone was not told that its transfer is declined'])
})

describe('the phone of a call that Asterisk lists, and does not find', () => {
  const [caller, input] = [aChannel('caller', ''), { cause: 16, sipCode: null }]
  const callId = arrivedCallId('pbx', caller)
  const phone = `${callId}-2`

  async function afterRounds() {
    ended = [phone]
    channels = [caller, aChannel(phone, 'agent')]
    for (let round = 0; round < 2; round += 1) {
      nowMs += 30_000
      await parts.reconcile.all()
    }
    return parts.sessions.find('acme', callId)
  }

  beforeEach(async () => {
    await parts.handle({ kind: 'arrives', channel: caller, called: ALICE.extension, asteriskId: 'pbx' })
    await parts.sessions.apply('acme', callId, { kind: 'ringing', channelId: phone })
  })

  const answers = () => parts.sessions.apply('acme', callId, { kind: 'ready', channelId: phone, isUp: true })

  test('does not keep the call alive', async () => {
    await answers()
    const session = await afterRounds()
    expect(session?.group.legs.map(({ ending }) => ending?.endReason)).toEqual([EndReason.platformLost])
  })

  test.each([
    ['answered', answers],
    ['missed', async () => {}],
  ])('does not keep a call that it has %s, and that is over, in the list of calls to compare', async (_how, end) => {
    await end()
    await parts.handle({ kind: 'channel', channel: caller, input: { kind: 'gone', channelId: 'caller', ...input } })
    const session = await afterRounds()
    expect(session && isFinished(session)).toBe(true)
  })
})

describe('an open line that Asterisk lists', () => {
  test('is closed if Asterisk does not find it', async () => {
    await opens('today')
    ended = ['today']
    channels = [aLine('today')]
    for (let round = 0; round < 2; round += 1) {
      nowMs += 30_000
      await parts.reconcile.all()
    }
    expect(await lineChannels()).toEqual(['today gone'])
  })

  test('is not stored again if Asterisk does not find it', async () => {
    ended = ['today']
    channels = [aLine('today')]
    await parts.reconcile.all()
    expect(await lineChannels()).toBeUndefined()
  })

  test('is stored again after Redis was restored to a state before it', async () => {
    channels = [aLine('today')]
    await parts.reconcile.all()
    await parts.reconcile.all()
    expect(await lineChannels()).toEqual(['today up'])
  })

  test('replaces the line of an older state, which is gone', async () => {
    await opens('yesterday')
    channels = [aLine('today')]
    for (let round = 0; round < 4; round += 1) {
      nowMs += 60_000
      await parts.reconcile.all()
    }
    expect((await lineChannels())?.at(-1)).toBe('today up')
  })

  test('does not replace the line that the agent has opened since', async () => {
    await opens('new')
    channels = [aLine('old'), aLine('new')]
    await parts.reconcile.all()
    expect(await lineChannels()).toEqual(['new up'])
  })
})
