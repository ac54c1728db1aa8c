import { CallState, newCallId, newCommandId } from '@switchhook/contracts'
import type { Action } from './action.ts'
import { beginArrival, beginDial } from './begin.ts'
import type { Party } from './call-flow.ts'
import type { Cue } from './cue.ts'
import { isFinished } from './session.ts'
import { type Stepped, step } from './step.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const agent = (agentUri: string): Party => ({ kind: 'agent', agentUri, device: null })
const AT_MS = Date.UTC(2026, 0, 1)

/** Applies cues to a call, and keeps the actions requested from Asterisk. */
class Play {
  stepped: Stepped
  readonly callId = newCallId()
  #atMs = AT_MS

  constructor(how: 'dials' | 'is called') {
    const ends = { tenant: 'acme', callId: this.callId, refusal: null }
    const dial = {
      ...ends,
      caller: agent(ALICE),
      commandId: newCommandId(),
      cli: null,
      correlationId: null,
      channelId: null,
    }
    const outside: Party = { kind: 'outside', address: '+15550100' }
    this.stepped =
      how === 'dials'
        ? beginDial({ ...dial, called: outside }, AT_MS)
        : beginArrival({ ...ends, channelId: 'trunk', from: '+15559000', called: agent(ALICE) }, AT_MS)
  }

  on(...cues: readonly Cue[]): this {
    for (const cue of cues) this.stepped = step(this.stepped.session, cue, (this.#atMs += 5_000))
    return this
  }

  get asked(): readonly string[] {
    return this.stepped.actions.map((action) => `${action.kind} ${this.#name(action)}`.trim())
  }

  get state(): CallState | undefined {
    return this.stepped.session.group.legs.find(({ agentUri }) => agentUri === ALICE)?.state
  }

  id(nth: number): string {
    return `${this.callId}-${nth}`
  }

  command(kind: 'hold' | 'hangup'): Cue {
    return { kind, callId: this.callId, agentUri: ALICE, commandId: newCommandId() }
  }

  answer(how: 'talk' | 'again' | null): Cue {
    return { kind: 'answer', callId: this.callId, agentUri: ALICE, commandId: newCommandId(), how, isInVain: false }
  }

  /** With the call's id left out. */
  #name(action: Action): string {
    const short = (id: string): string => id.replace(this.callId, '').replace(/^-(?=\d)/, '')
    if (action.kind === 'move') return `${action.channelIds.map(short).join('+')} to ${action.waits ? 'wait' : 'talk'}`
    return 'channelId' in action ? short(action.channelId) : short(action.bridge)
  }
}

/** Alice has dialled, and talks. Her phone is channel 2, the customer 3. */
const talking = (): Play => {
  const play = new Play('dials')
  play.on({ kind: 'ready', channelId: play.id(2), isUp: true }, { kind: 'ready', channelId: play.id(3), isUp: false })
  return play.on({ kind: 'ringing', channelId: play.id(3) }, { kind: 'up', channelId: play.id(3) })
}

test('the customer is called once the agent has answered, and dialled once the ringback is heard', () => {
  const play = new Play('dials')
  expect(play.asked).toEqual(['originate 2'])
  play.on({ kind: 'ringing', channelId: play.id(2) })
  expect(play.asked).toEqual([])
  play.on({ kind: 'ready', channelId: play.id(2), isUp: true })
  expect(play.asked).toEqual(['create 3', 'move 2 to talk'])
  play.on({ kind: 'ready', channelId: play.id(3), isUp: false })
  expect(play.asked).toEqual(['move 3 to talk', 'dial 3'])
  play.on({ kind: 'ringing', channelId: play.id(3) })
  expect(play.state).toBe(CallState.proceeding)
  play.on({ kind: 'up', channelId: play.id(3) })
  expect(play.state).toBe(CallState.connected)
})

test('on hold the customer is taken out of the bridge, so the agent hears nothing', () => {
  const play = talking()
  play.on(play.command('hold'))
  expect(play.asked).toEqual(['move 3 to wait'])
  expect(play.state).toBe(CallState.held)
})

test('one party hangs up: the other one is ended, and the bridge', () => {
  const play = talking().on({ kind: 'gone', channelId: 'x', cause: 16, sipCode: null })
  play.on({ kind: 'gone', channelId: play.id(3), cause: 16, sipCode: null })
  expect(play.asked).toEqual(['drop 2', 'drop-bridge'])
  expect(play.state).toBe(CallState.ended)
  play.on({ kind: 'gone', channelId: play.id(2), cause: 16, sipCode: null })
  expect(isFinished(play.stepped.session)).toBe(true)
})

test('a caller hears ringback, and is answered when the agent is', () => {
  const play = new Play('is called')
  expect(play.asked).toEqual(['claim trunk', 'originate 2'])
  expect(play.state).toBeUndefined()
  play.on({ kind: 'ringing', channelId: play.id(2) })
  expect(play.asked).toEqual(['ring trunk'])
  expect(play.state).toBe(CallState.alerting)
  play.on({ kind: 'ready', channelId: play.id(2), isUp: true })
  expect(play.asked).toEqual(['answer trunk', 'move trunk+2 to talk'])
})

test('an agent who declines: the caller hears the same cause', () => {
  const play = new Play('is called')
  play.on({ kind: 'ringing', channelId: play.id(2) }, { kind: 'gone', channelId: play.id(2), cause: 21, sipCode: 603 })
  expect(play.stepped.actions).toEqual([{ kind: 'drop', channelId: 'trunk', cause: 21, elsewhere: false }])
})

describe('answer', () => {
  const ringing = (): Play => {
    const play = new Play('is called')
    return play.on({ kind: 'ringing', channelId: play.id(2) })
  }

  test('by NOTIFY asks the ringing phone', () => {
    const play = ringing()
    const answer = play.answer('talk')
    play.on(answer)
    expect(play.asked).toEqual(['talk 2'])
    play.on({ kind: 'ready', channelId: play.id(2), isUp: true })
    const leg = play.stepped.session.group.legs[0]
    expect(leg).toMatchObject({ state: CallState.connected, commandId: 'commandId' in answer ? answer.commandId : '' })
  })

  test('by a second call ends the first one as answered elsewhere', () => {
    const play = ringing()
    play.on(play.answer('again'))
    expect(play.stepped.actions).toMatchObject([
      { kind: 'drop', channelId: play.id(2), elsewhere: true },
      { kind: 'originate', channelId: play.id(3), autoAnswer: true },
    ])
    play.on({ kind: 'gone', channelId: play.id(2), cause: 26, sipCode: null })
    expect(play.state).toBe(CallState.alerting)
  })

  test('of a phone that cannot be made to is reported as failed', () => {
    const play = ringing()
    play.on(play.answer(null))
    expect(play.stepped.session.group.legs[0]).toMatchObject({
      state: CallState.alerting,
      failedCommand: { command: 'answer' },
    })
  })

  test('that the phone does not obey is reported as failed after a while', () => {
    const play = ringing()
    const answer = play.answer('talk')
    play.on(answer)
    expect(play.stepped.later).toEqual([
      { cue: { kind: 'answer-overdue', commandId: expect.any(String) }, dueInMs: 3_000 },
    ])
    for (const { cue } of play.stepped.later) play.on(cue)
    expect(play.stepped.session.group.legs[0]).toMatchObject({
      state: CallState.alerting,
      failedCommand: { command: 'answer' },
    })
  })
})

describe('compared with what Asterisk has', () => {
  const listed = (channels: Extract<Cue, { kind: 'listed' }>['channels'], hasRestarted = false): Cue => ({
    kind: 'listed',
    channels,
    hasRestarted,
  })

  test('a customer in the wrong bridge is moved again', () => {
    const play = talking()
    play.on(
      listed([
        { id: play.id(2), state: 'up', isReady: true, bridge: play.callId },
        { id: play.id(3), state: 'up', isReady: true, bridge: null },
      ]),
    )
    expect(play.asked).toEqual(['move 3 to talk'])
  })

  test('an answer that was missed lets the call go on', () => {
    const play = new Play('dials')
    play.on(listed([{ id: play.id(2), state: 'up', isReady: true, bridge: null }]))
    expect(play.asked).toEqual(['create 3', 'move 2 to talk'])
  })

  test('a party who is gone ends the call with reason 12', () => {
    const play = talking()
    play.on(listed([{ id: play.id(2), state: 'up', isReady: true, bridge: play.callId }]))
    expect(play.stepped.session.group.legs[0]).toMatchObject({
      state: CallState.ended,
      ending: { endReason: 12, endedBy: 3 },
    })
    expect(play.asked).toEqual(['drop 2', 'drop-bridge'])
  })

  test('after a restart of Asterisk every leg has ended with reason 12', () => {
    const play = talking().on(listed([], true))
    expect(play.stepped.session.group.legs[0]).toMatchObject({ ending: { endReason: 12 } })
    expect(play.asked).toEqual(['drop-bridge'])
  })
})

test('an attended transfer moves the phone to the consultation, and back if it is cancelled', () => {
  const play = talking()
  const consultationCallId = newCallId()
  const target = { ...agent(BOB), asked: BOB, refusal: null }
  const base = { callId: play.callId, agentUri: ALICE, correlationId: null }
  play.on({ ...base, kind: 'transfer', commandId: newCommandId(), consultationCallId, target })
  expect(play.stepped.actions).toMatchObject([
    { kind: 'originate', channelId: play.id(4) },
    { kind: 'move', channelIds: [play.id(2)], bridge: consultationCallId, waits: false },
    { kind: 'move', channelIds: [play.id(3)], bridge: `${play.callId}-h`, waits: true },
    { kind: 'drop-bridge', bridge: play.callId },
  ])
  play.on({ ...base, kind: 'resume', commandId: newCommandId(), how: 'talk', isInVain: false })
  expect(play.asked).toContain('drop 4')
  expect(play.asked).toContain('move 2+3 to talk')
})
