import { type CallId, CallState, EndReason, newCallId, newCommandId, TransferStatus } from '@switchhook/contracts'
import type { LegReport, Party } from '@switchhook/platform'
import type { Action } from './action.ts'
import { beginArrival, beginDial, beginLine } from './begin.ts'
import type { Input, ListedChannel } from './input.ts'
import { isFinished } from './session.ts'
import { type Stepped, step } from './step.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const CAROL = 'sip:carol@acme.example'
const agent = (agentUri: string): Party => ({ kind: 'agent', agentUri, device: null })
const AT_MS = Date.UTC(2026, 0, 1)

/** Applies inputs to a call, and keeps the actions requested from Asterisk. */
class Steps {
  stepped: Stepped
  readonly callId = newCallId()
  #atMs = AT_MS

  constructor(how: 'dials' | 'is called', called: Party = { kind: 'outside', address: '+15550100' }) {
    const ends = { tenant: 'acme', callId: this.callId, refusal: null }
    const dial = {
      ...ends,
      caller: agent(ALICE),
      commandId: newCommandId(),
      cli: null,
      correlationId: null,
      channelId: null,
    }
    this.stepped =
      how === 'dials'
        ? beginDial({ ...dial, called }, AT_MS)
        : beginArrival({ ...ends, channelId: 'trunk', from: '+15559000', called: agent(ALICE) }, AT_MS)
  }

  on(...inputs: readonly Input[]): this {
    for (const input of inputs) this.stepped = step(this.stepped.session, input, (this.#atMs += 5_000))
    return this
  }

  get asked(): readonly string[] {
    return this.stepped.actions.map((action) => `${action.kind} ${this.#name(action)}`.trim())
  }

  get state(): CallState | undefined {
    return this.leg()?.state
  }

  leg(of = ALICE, callId: CallId = this.callId): LegReport | undefined {
    return this.stepped.session.group.legs.find((leg) => leg.agentUri === of && leg.callId === callId)
  }

  id(nth: number): string {
    return `${this.callId}-${nth}`
  }

  command(kind: 'hold' | 'hangup'): Input {
    return { kind, callId: this.callId, agentUri: ALICE, commandId: newCommandId() }
  }

  /** Instead of creating the channel, Asterisk uses that of alice's open line. */
  lends(nth: number, isHeldAtPhone = false): Input {
    return { kind: 'line-lent', channelId: this.id(nth), lineId: 'line', isHeldAtPhone, ringMs: 30_000 }
  }

  /** A transfer to bob, attended if the consultation has an id. */
  transfers(consultationCallId: CallId | null, agentUri = ALICE): Input {
    const target = { ...agent(BOB), asked: BOB, refusal: null }
    const base = { callId: this.callId, agentUri, commandId: newCommandId(), correlationId: null }
    return { ...base, kind: 'transfer', consultationCallId, target }
  }

  answer(how: 'talk' | 'again' | 'connected' | null): Input {
    return { kind: 'answer', callId: this.callId, agentUri: ALICE, commandId: newCommandId(), how, isInVain: false }
  }

  /** With the call's id left out. */
  #name(action: Action): string {
    const short = (id: string): string => id.replace(this.callId, '').replace(/^-(?=\d)/, '')
    if (action.kind === 'move') return `${action.channelIds.map(short).join('+')} to ${action.waits ? 'wait' : 'talk'}`
    return 'channelId' in action ? short(action.channelId) : short(action.bridge)
  }
}

const commandIdOf = (input: Input): string | null => ('commandId' in input ? input.commandId : null)

/** A channel that is up, in Asterisk's list. */
const upIn = (bridge: string | null, id: string, isMarked = true): ListedChannel => ({
  id,
  state: 'up',
  isReady: true,
  isMarked,
  bridge,
})

/** The process died before the bridge was deleted. */
const withBridge = (stepped: Stepped, bridge: string): Stepped => ({
  ...stepped,
  session: { ...stepped.session, bridges: [...stepped.session.bridges, bridge] },
})

/** Alice has dialled, and talks. Her phone is channel 2, the customer 3. */
const talking = (called?: Party): Steps => {
  const steps = new Steps('dials', called)
  steps.on(
    { kind: 'ready', channelId: steps.id(2), isUp: true },
    { kind: 'ready', channelId: steps.id(3), isUp: false },
  )
  return steps.on({ kind: 'ringing', channelId: steps.id(3) }, { kind: 'up', channelId: steps.id(3) })
}

test('the customer is called once the agent has answered, and dialled once the ringback is heard', () => {
  const steps = new Steps('dials')
  expect(steps.asked).toEqual(['create 2'])
  steps.on({ kind: 'ready', channelId: steps.id(2), isUp: false })
  expect(steps.asked).toEqual(['dial 2'])
  steps.on({ kind: 'ringing', channelId: steps.id(2) })
  expect(steps.asked).toEqual([])
  steps.on({ kind: 'up', channelId: steps.id(2) })
  expect(steps.asked).toEqual(['create 3', 'move 2 to talk'])
  steps.on({ kind: 'ready', channelId: steps.id(3), isUp: false })
  expect(steps.asked).toEqual(['move 3 to talk', 'dial 3'])
  steps.on({ kind: 'ringing', channelId: steps.id(3) })
  expect(steps.state).toBe(CallState.proceeding)
  steps.on({ kind: 'up', channelId: steps.id(3) })
  expect(steps.state).toBe(CallState.connected)
})

test('on hold the customer is taken out of the bridge, so the agent hears nothing', () => {
  const steps = talking()
  steps.on(steps.command('hold'))
  expect(steps.asked).toEqual(['move 3 to wait'])
  expect(steps.state).toBe(CallState.held)
})

test('a call held at the phone is resumed by the phone, and the result of the command is reported', () => {
  const steps = talking().on({ kind: 'phone-holds', channelId: 'x' })
  steps.on({ kind: 'phone-holds', channelId: steps.id(2) })
  const resume = { ...steps.command('hold'), kind: 'resume', how: 'talk', isInVain: false } as Input
  steps.on(resume)
  expect(steps.asked).toEqual(['talk 2'])
  const { later } = steps.stepped
  steps.on({ kind: 'phone-resumes', channelId: steps.id(2) }, ...later.map(({ input }) => input))
  expect(steps.state).toBe(CallState.connected)
  expect(steps.stepped.session.group.legs[0]).toMatchObject({ doneCommand: { commandId: commandIdOf(resume) } })
})

test('a resume that the phone has obeyed is reported as done, although the call is held again by then', () => {
  const steps = talking().on({ kind: 'phone-holds', channelId: 'x' })
  steps.on({ kind: 'phone-holds', channelId: steps.id(2) })
  const resume = { ...steps.command('hold'), kind: 'resume', how: 'talk', isInVain: false } as Input
  const { later } = steps.on(resume).stepped
  steps.on({ kind: 'phone-resumes', channelId: steps.id(2) }, steps.command('hold'))
  expect(steps.state).toBe(CallState.held)
  steps.on(...later.map(({ input }) => input))
  const [leg] = steps.stepped.session.group.legs
  expect(leg).toMatchObject({ doneCommand: { commandId: commandIdOf(resume) }, failedCommand: null })
})

describe('a phone that is on hold when its transfer fails', () => {
  const onHold = (consultation: CallId | null): Steps => {
    const steps = talking()
    return steps.on({ kind: 'phone-holds', channelId: steps.id(2) }, steps.transfers(consultation))
  }

  test('keeps its call on hold, and the customer hears music until the phone resumes', () => {
    const steps = onHold(null)
    steps.on({ kind: 'gone', channelId: steps.id(4), cause: 17, sipCode: 486 })
    expect(steps.state).toBe(CallState.held)
    expect(steps.asked).toEqual([])
    steps.on({ kind: 'phone-resumes', channelId: steps.id(2) })
    expect(steps.state).toBe(CallState.connected)
    expect(steps.asked).toEqual(['move 3 to talk'])
  })

  const resume = (steps: Steps, how: 'talk' | 'connected' | null): Input =>
    ({ ...steps.command('hold'), kind: 'resume', how, isInVain: false }) as Input

  test('is made to resume when its agent cancels the transfer, after all else', () => {
    const steps = onHold(newCallId())
    const asked = resume(steps, 'talk')
    const { later } = steps.on(asked).stepped
    expect(steps.asked.at(-1)).toBe('talk 2')
    expect(steps.leg()).toMatchObject({ state: CallState.held, transfer: { status: TransferStatus.cancelled } })
    steps.on({ kind: 'phone-resumes', channelId: steps.id(2) }, ...later.map(({ input }) => input))
    expect(steps.leg()).toMatchObject({
      state: CallState.connected,
      doneCommand: { commandId: commandIdOf(asked) },
    })
  })

  test.each([
    ['obey', 'in time', 'talk'],
    ['be made to', 'at all', 'connected'],
    ['be made to', 'at all', null],
  ] as const)('and does not %s %s: the resume that cancels the transfer is reported as failed', (_what, _when, how) => {
    const steps = onHold(newCallId())
    const asked = resume(steps, how)
    const { later } = steps.on(asked).stepped
    steps.on(...later.map(({ input }) => input))
    expect(steps.leg()).toMatchObject({
      state: CallState.held,
      transfer: { status: TransferStatus.cancelled },
      failedCommand: { commandId: commandIdOf(asked), command: 'resume' },
    })
  })

  test('and is asked in vain to resume before the next transfer: that is reported as failed, too', () => {
    const steps = onHold(newCallId())
    const asked = resume(steps, 'talk')
    const { later } = steps.on(asked).stepped
    steps.on(steps.transfers(newCallId()), ...later.map(({ input }) => input))
    expect(steps.leg()?.failedCommand).toMatchObject({ commandId: commandIdOf(asked) })
  })
})

describe('hold and resume at a phone during a transfer', () => {
  /** Alice talks to carol. */
  const held = (): Steps => {
    const steps = talking(agent(CAROL))
    return steps.on({ kind: 'phone-holds', channelId: steps.id(2) })
  }
  const bobAnswers = (steps: Steps): Steps => steps.on({ kind: 'ready', channelId: steps.id(4), isUp: true })

  test('by the agent who is transferred: the target hears the agent who has resumed', () => {
    const steps = held()
    steps.on(steps.transfers(null, CAROL), { kind: 'phone-resumes', channelId: steps.id(2) })
    expect(steps.state).toBe(CallState.connected)
    bobAnswers(steps)
    expect(steps.leg(BOB)).toMatchObject({ state: CallState.connected, remoteHeld: false })
    expect(steps.asked).toContain('move 2+4 to talk')
  })

  test('by the agent who is transferred: the agent who holds is on hold at once', () => {
    const steps = talking(agent(CAROL))
    steps.on(steps.transfers(null, CAROL), { kind: 'phone-holds', channelId: steps.id(2) })
    expect(steps.state).toBe(CallState.held)
    expect(steps.leg(CAROL)?.remoteHeld).toBe(true)
    bobAnswers(steps)
    expect(steps.leg(BOB)).toMatchObject({ state: CallState.connected, remoteHeld: true })
  })

  test('by the agent who transfers: the other one still waits', () => {
    const steps = held()
    steps.on(steps.transfers(null), { kind: 'phone-resumes', channelId: steps.id(2) })
    expect(steps.leg(CAROL)?.remoteHeld).toBe(true)
    steps.on({ kind: 'gone', channelId: steps.id(4), cause: 17, sipCode: 486 })
    expect([steps.state, steps.leg(CAROL)?.remoteHeld]).toEqual([CallState.connected, false])
  })
})

test('a second transfer that is refused for the same reason is reported, too', () => {
  const steps = talking()
  const refused = (): Input => {
    const asked = steps.transfers(null)
    const target = { ...agent(BOB), asked: BOB, refusal: 'busy' }
    return { ...asked, target } as Input
  }
  for (const input of [refused(), refused()]) {
    steps.on(input)
    expect(steps.leg()).toMatchObject({
      state: CallState.connected,
      transfer: { status: TransferStatus.failed, failReason: EndReason.busy },
      failedCommand: { commandId: commandIdOf(input), command: 'transfer', reason: EndReason.busy },
    })
  }
})

test('one party hangs up: the other one is ended, and the bridge', () => {
  const steps = talking().on({ kind: 'gone', channelId: 'x', cause: 16, sipCode: null })
  steps.on({ kind: 'gone', channelId: steps.id(3), cause: 16, sipCode: null })
  expect(steps.asked).toEqual(['drop 2', 'drop-bridge'])
  expect(steps.state).toBe(CallState.ended)
  steps.on({ kind: 'gone', channelId: steps.id(2), cause: 16, sipCode: null })
  expect(isFinished(steps.stepped.session)).toBe(true)
})

test('a caller hears ringback, and is answered when the agent is', () => {
  const steps = new Steps('is called')
  expect(steps.asked).toEqual(['claim trunk', 'create 2'])
  expect(steps.state).toBeUndefined()
  steps.on({ kind: 'ringing', channelId: steps.id(2) })
  expect(steps.asked).toEqual(['ring trunk'])
  expect(steps.state).toBe(CallState.alerting)
  steps.on({ kind: 'ready', channelId: steps.id(2), isUp: true })
  expect(steps.asked).toEqual(['answer trunk', 'move trunk+2 to talk'])
})

test.each([
  ['busy', { kind: 'gone', cause: 17, sipCode: 486 }, EndReason.busy, 17],
  ['declined', { kind: 'gone', cause: 21, sipCode: 603 }, EndReason.rejected, 21],
  ['redirected', { kind: 'gone', cause: 23, sipCode: 302 }, EndReason.failed, 19],
  ['declined as spam', { kind: 'gone', cause: 127, sipCode: 607 }, EndReason.rejected, 19],
  ['not registered', { kind: 'refused' }, EndReason.deviceUnavailable, 20],
] as const)('a call that a phone refuses before it rings is missed: %s', (_why, input, endReason, heard) => {
  const steps = new Steps('is called')
  steps.on({ ...input, channelId: steps.id(2) })
  expect(steps.leg()).toMatchObject({ state: CallState.ended, ending: { endReason } })
  expect(steps.stepped.actions).toMatchObject([{ kind: 'drop', channelId: 'trunk', cause: heard }])
})

test('an agent who declines: the caller hears the same cause', () => {
  const steps = new Steps('is called')
  steps.on(
    { kind: 'ringing', channelId: steps.id(2) },
    { kind: 'gone', channelId: steps.id(2), cause: 21, sipCode: 603 },
  )
  expect(steps.stepped.actions).toEqual([{ kind: 'drop', channelId: 'trunk', cause: 21, elsewhere: false }])
})

describe('answer', () => {
  const ringing = (): Steps => {
    const steps = new Steps('is called')
    return steps.on({ kind: 'ringing', channelId: steps.id(2) })
  }

  test('by NOTIFY asks the ringing phone', () => {
    const steps = ringing()
    const answer = steps.answer('talk')
    steps.on(answer)
    expect(steps.asked).toEqual(['talk 2'])
    steps.on({ kind: 'ready', channelId: steps.id(2), isUp: true })
    const leg = steps.stepped.session.group.legs[0]
    expect(leg).toMatchObject({ state: CallState.connected, commandId: commandIdOf(answer) })
  })

  test('by a second call ends the first one as answered elsewhere', () => {
    const steps = ringing()
    steps.on(steps.answer('again'))
    expect(steps.stepped.actions).toMatchObject([
      { kind: 'drop', channelId: steps.id(2), elsewhere: true },
      { kind: 'create', channelId: steps.id(3), autoAnswer: true },
    ])
    steps.on({ kind: 'gone', channelId: steps.id(2), cause: 26, sipCode: null })
    expect(steps.state).toBe(CallState.alerting)
  })

  test('of a phone that cannot be made to is reported as failed', () => {
    const steps = ringing()
    steps.on(steps.answer(null))
    expect(steps.stepped.session.group.legs[0]).toMatchObject({
      state: CallState.alerting,
      failedCommand: { command: 'answer' },
    })
  })

  test('by two commands is reported for both', () => {
    const steps = ringing()
    const [first, second] = [steps.answer('talk'), steps.answer('talk')]
    steps.on(first, second)
    expect(steps.asked).toEqual([])
    const [overdue] = steps.stepped.later
    steps.on({ kind: 'ready', channelId: steps.id(2), isUp: true })
    const leg = () => steps.stepped.session.group.legs[0]
    expect(leg()).toMatchObject({ state: CallState.connected, commandId: commandIdOf(first) })
    steps.on(...(overdue === undefined ? [] : [overdue.input]))
    expect(leg()).toMatchObject({ state: CallState.connected, doneCommand: { commandId: commandIdOf(second) } })
  })

  test('that the phone does not obey is reported as failed after a while', () => {
    const steps = ringing()
    const answer = steps.answer('talk')
    steps.on(answer)
    expect(steps.stepped.later).toEqual([
      { input: { kind: 'answer-overdue', commandId: expect.any(String) }, dueInMs: 3_000 },
    ])
    for (const { input } of steps.stepped.later) steps.on(input)
    expect(steps.stepped.session.group.legs[0]).toMatchObject({
      state: CallState.alerting,
      failedCommand: { command: 'answer' },
    })
  })
})

describe('a line that is open all day', () => {
  const ringing = (): Steps => {
    const steps = new Steps('is called')
    return steps.on(steps.lends(2))
  }
  const onLine = (): Steps => {
    const steps = ringing()
    return steps.on(steps.answer('connected'))
  }

  test('a call rings on it immediately, and the caller hears ringback', () => {
    const steps = ringing()
    expect(steps.state).toBe(CallState.alerting)
    expect(steps.asked).toEqual(['ring trunk'])
    expect(steps.stepped.later).toEqual([{ input: { kind: 'line-overdue', lineId: 'line' }, dueInMs: 30_000 }])
  })

  test('is answered by moving it into the call', () => {
    const steps = onLine()
    expect(steps.state).toBe(CallState.connected)
    expect(steps.asked).toEqual(['answer trunk', 'move trunk+line to talk'])
  })

  test('is free for other calls while the call is on hold', () => {
    const steps = onLine()
    steps.on(steps.command('hold'))
    expect(steps.asked).toEqual(['leave line', 'move trunk to wait'])
    steps.on({ ...steps.command('hold'), kind: 'resume', how: 'connected', isInVain: false } as Input)
    expect(steps.asked).toEqual(['move trunk+line to talk'])
  })

  test('is not answered by command while the agent has it on hold, which can change as long as the call rings', () => {
    const steps = new Steps('is called')
    const [first, second] = [steps.answer('connected'), steps.answer('connected')]
    steps.on(steps.lends(2, true), first)
    expect(steps.leg()).toMatchObject({
      state: CallState.alerting,
      failedCommand: { commandId: commandIdOf(first), command: 'answer' },
    })
    steps.on({ kind: 'phone-resumes', channelId: 'line' }, second)
    expect(steps.leg()).toMatchObject({ state: CallState.connected, commandId: commandIdOf(second) })
  })

  test('stays where it is when the agent presses hold in another call', () => {
    const steps = onLine()
    steps.on(steps.command('hold'))
    const resume = { ...steps.command('hold'), kind: 'resume', how: 'connected', isInVain: false } as Input
    expect(steps.on({ kind: 'phone-holds', channelId: 'line' }).asked).toEqual([])
    expect(steps.on(resume)).toMatchObject({ state: CallState.held, asked: [] })
    expect(steps.leg()?.failedCommand).toMatchObject({ commandId: commandIdOf(resume), command: 'resume' })
    expect(steps.on({ kind: 'phone-resumes', channelId: 'line' })).toMatchObject({ state: CallState.held, asked: [] })
  })

  test('that has lost its bridge while the agent holds at the phone connects the call again when the phone resumes', () => {
    const steps = onLine()
    const channels = [upIn(`${steps.callId}-h`, 'trunk'), upIn(null, 'line')]
    steps.on({ kind: 'phone-holds', channelId: 'line' }, { kind: 'listed', channels, hasRestarted: false })
    expect(steps).toMatchObject({ state: CallState.held, asked: ['move line to talk'] })
    steps.on({ kind: 'phone-resumes', channelId: 'line' })
    expect(steps).toMatchObject({ state: CallState.connected, asked: ['move trunk to talk'] })
  })

  test('stays open after the call', () => {
    const steps = onLine()
    steps.on(steps.command('hangup'))
    expect(steps.asked).toEqual(['drop trunk', 'leave line', 'drop-bridge'])
    steps.on({ kind: 'line-returned', lineId: 'line' })
    steps.on({ kind: 'gone', channelId: 'trunk', cause: 16, sipCode: null })
    expect(isFinished(steps.stepped.session)).toBe(true)
  })

  test('is used by a call that the agent dials', () => {
    const steps = new Steps('dials')
    steps.on(steps.lends(2))
    expect(steps.asked).toEqual(['create 3', 'move line to talk'])
  })

  test.each<[string, Input, number]>([
    ['nobody answers', { kind: 'line-overdue', lineId: 'line' }, 4],
    ['the agent hangs up', { kind: 'gone', channelId: 'line', cause: 16, sipCode: null }, 6],
  ])('a call that rings on it ends if %s', (_what, input, endReason) => {
    const steps = ringing().on(input)
    expect(steps.stepped.session.group.legs[0]).toMatchObject({ ending: { endReason } })
    expect(steps.asked).toEqual(['drop trunk'])
  })

  test('a call is not answered by command while the line is closed', () => {
    const steps = new Steps('is called')
    steps.on({ kind: 'ringing', channelId: steps.id(2) }, steps.answer('connected'))
    expect(steps.stepped.session.group.legs[0]).toMatchObject({
      state: CallState.alerting,
      failedCommand: { command: 'answer' },
    })
  })

  test.each([
    ['leaves it in another call', 'other call', []],
    ['takes it out of its bridge after the hold', 'this call', ['leave line']],
  ])('a comparison with Asterisk during a hold %s', (_what, where, asked) => {
    const steps = onLine()
    steps.on(steps.command('hold'))
    const bridge = where === 'this call' ? steps.callId : where
    const [trunk, line] = [upIn(`${steps.callId}-h`, 'trunk'), upIn(bridge, 'line')]
    if (where === 'this call') steps.stepped = withBridge(steps.stepped, steps.callId)
    steps.on({ kind: 'listed', channels: [trunk, line], hasRestarted: false })
    expect(steps.asked).toEqual(asked)
  })

  test('the newest channel of the agent is the line, and the line outlives its calls', () => {
    const line = { tenant: 'acme', sessionId: newCallId() }
    const opened = beginLine(line, { kind: 'line-opens', agentUri: ALICE, channelId: 'old' }, AT_MS)
    expect(opened.actions.map(({ kind }) => kind)).toEqual(['claim', 'answer'])
    const again = step(opened.session, { kind: 'line-opens', agentUri: ALICE, channelId: 'new' }, AT_MS)
    expect(again.actions).toMatchObject([
      { kind: 'drop', channelId: 'old' },
      { kind: 'claim', channelId: 'new' },
      { kind: 'answer', channelId: 'new' },
    ])
    const closed = step(again.session, { kind: 'device-gone', agentUri: ALICE }, AT_MS)
    expect(closed.actions).toMatchObject([{ kind: 'drop', channelId: 'new' }])
    expect(isFinished(closed.session)).toBe(false)
  })
})

describe('compared with what Asterisk has', () => {
  const listed = (channels: Extract<Input, { kind: 'listed' }>['channels'], hasRestarted = false): Input => ({
    kind: 'listed',
    channels,
    hasRestarted,
  })

  test('a customer in the wrong bridge is moved again', () => {
    const steps = talking()
    steps.on(listed([upIn(steps.callId, steps.id(2)), upIn(null, steps.id(3))]))
    expect(steps.asked).toEqual(['move 3 to talk'])
  })

  test('an answer that was missed lets the call go on', () => {
    const steps = new Steps('dials')
    steps.on(listed([upIn(null, steps.id(2))]))
    expect(steps.asked).toEqual(['create 3', 'move 2 to talk'])
  })

  /** Alice has dialled, and Asterisk has said nothing of her phone until now. */
  function answersAfter(ms: number, inputOf: (steps: Steps) => Input): Steps {
    const steps = new Steps('dials')
    for (const atMs of [ms - 2_000, ms]) steps.stepped = step(steps.stepped.session, inputOf(steps), AT_MS + atMs)
    return steps
  }
  const missing = () => listed([])
  const waiting = (steps: Steps) => listed([{ ...upIn(null, steps.id(2)), state: 'other' }])
  const enters = (steps: Steps): Input => ({ kind: 'ready', channelId: steps.id(2), isUp: false })

  test.each([
    ['without the channel, is repeated', missing, ['create 3']],
    ['with the channel, goes on', waiting, ['dial 2']],
  ])('a young dial, %s', (_what, inputOf, asked) => {
    const steps = answersAfter(44_000, inputOf)
    expect(steps.asked).toEqual(asked)
    expect(steps.state).not.toBe(CallState.ended)
  })

  test.each([
    ['Asterisk does not have', missing, []],
    ['Asterisk has just created', waiting, ['drop 2']],
    ['enters our application', enters, ['drop 2']],
  ])('45 s after a dial, the phone does not ring any more: its channel %s', (_what, inputOf, asked) => {
    const steps = new Steps('dials')
    const all: string[] = []
    for (const atMs of [46_000, 48_000]) {
      steps.stepped = step(steps.stepped.session, inputOf(steps), AT_MS + atMs)
      all.push(...steps.asked)
    }
    expect(new Set(all)).toEqual(new Set(asked))
    expect(steps.leg()).toMatchObject({ state: CallState.ended, ending: { endReason: 12 } })
  })

  test('a phone that was dialled in time rings on', () => {
    const steps = new Steps('dials')
    steps.on(enters(steps))
    steps.stepped = step(steps.stepped.session, waiting(steps), AT_MS + 60_000)
    expect(steps.asked).toEqual(['dial 2'])
    expect(steps.state).not.toBe(CallState.ended)
  })

  test('a party who is gone ends the call with reason 12', () => {
    const steps = talking()
    const withoutCustomer = listed([upIn(steps.callId, steps.id(2))])
    // The first list that lacks a channel may be ahead of the event that says why it ended.
    expect(steps.on(withoutCustomer).state).toBe(CallState.connected)
    steps.on(withoutCustomer)
    expect(steps.stepped.session.group.legs[0]).toMatchObject({
      state: CallState.ended,
      ending: { endReason: 12, endedBy: 3 },
    })
    expect(steps.asked).toEqual(['drop 2', 'drop-bridge'])
  })

  test.each([
    ['is claimed again without the mark of its call', false, ['claim trunk']],
    ['is not claimed again with the mark', true, []],
  ])('a caller %s', (_what, isMarked, asked) => {
    const steps = new Steps('is called')
    steps.on({ kind: 'ready', channelId: steps.id(2), isUp: true })
    const phone = upIn(steps.callId, steps.id(2), false)
    expect(steps.on(listed([upIn(steps.callId, 'trunk', isMarked), phone])).asked).toEqual(asked)
  })

  test('a caller who is not told yet that the phone rings, or that it was answered, is told again', () => {
    const steps = new Steps('is called')
    const [caller, phone] = [{ ...upIn(null, 'trunk'), state: 'other' as const }, upIn(null, steps.id(2))]
    steps.on({ kind: 'ringing', channelId: phone.id })
    expect(steps.asked).toEqual(['ring trunk'])
    steps.on(listed([caller, { ...phone, state: 'ringing' as const }]))
    expect(steps.asked).toEqual(['ring trunk'])
    steps.on({ kind: 'ready', channelId: phone.id, isUp: true })
    expect(steps.asked).toContain('answer trunk')
    steps.on(listed([caller, phone]))
    expect(steps.asked).toContain('answer trunk')
  })

  test.each([
    ['is claimed again without the mark', false, ['claim']],
    ['is not claimed again with the mark', true, []],
  ])('an open line %s', (_what, isMarked, asked) => {
    const line = { tenant: 'acme', sessionId: newCallId() }
    const { session } = beginLine(line, { kind: 'line-opens', agentUri: ALICE, channelId: 'line' }, AT_MS)
    const { actions } = step(session, listed([upIn(null, 'line', isMarked)]), AT_MS)
    expect(actions.map(({ kind }) => kind)).toEqual(asked)
  })

  test('after a restart of Asterisk every leg has ended with reason 12', () => {
    const steps = talking().on(listed([], true))
    expect(steps.stepped.session.group.legs[0]).toMatchObject({ ending: { endReason: 12 } })
    expect(steps.asked).toEqual(['drop-bridge'])
  })
})

test('an attended transfer moves the phone to the consultation, and back if it is cancelled', () => {
  const steps = talking()
  const consultationCallId = newCallId()
  steps.on(steps.transfers(consultationCallId))
  expect(steps.stepped.actions).toMatchObject([
    { kind: 'create', channelId: steps.id(4) },
    { kind: 'move', channelIds: [steps.id(2)], bridge: consultationCallId, waits: false },
    { kind: 'move', channelIds: [steps.id(3)], bridge: `${steps.callId}-h`, waits: true },
  ])
  steps.on({ ...steps.command('hold'), kind: 'resume', how: 'talk', isInVain: false } as Input)
  expect(steps.asked).toContain('drop 4')
  expect(steps.asked).toContain('move 2+3 to talk')
})

test.each([
  ['an outside number is presented the default number, and the event names it', '+15550101', '+15550000'],
  ['an agent is presented none', BOB, null],
])('a consultation: %s', (_what, address, cli) => {
  const steps = talking()
  const consultationCallId = newCallId()
  const party: Party = address === BOB ? agent(BOB) : { kind: 'outside', address }
  const target = { ...party, asked: address, refusal: null }
  steps.on({ ...steps.transfers(consultationCallId), cli: '+15550000', target } as Input)
  expect(steps.leg(ALICE, consultationCallId)).toMatchObject({ cli })
  if (cli !== null) expect(steps.stepped.actions).toMatchObject([{ kind: 'create', shows: { cli } }, {}, {}])
})

describe('at the phone, during a consultation', () => {
  let steps: Steps
  let consultationCallId: CallId
  const phone = (): string => steps.id(2)

  beforeEach(() => {
    consultationCallId = newCallId()
    steps = talking(agent(CAROL))
    steps.on(steps.transfers(consultationCallId), { kind: 'ready', channelId: steps.id(4), isUp: true })
  })

  test('hold and resume concern the consultation, and nothing changes for the customer', () => {
    const customer = steps.leg(CAROL)
    expect(customer).toMatchObject({ state: CallState.connected, remoteHeld: true })
    steps.on({ kind: 'phone-holds', channelId: phone() })
    expect(steps.leg(ALICE, consultationCallId)?.state).toBe(CallState.held)
    expect(steps.leg(BOB, consultationCallId)?.remoteHeld).toBe(true)
    steps.on({ kind: 'phone-resumes', channelId: phone() })
    expect(steps.leg(ALICE, consultationCallId)?.state).toBe(CallState.connected)
    expect(steps.leg(BOB, consultationCallId)?.remoteHeld).toBe(false)
    expect(steps.leg(CAROL)).toEqual(customer)
    expect(steps.state).toBe(CallState.held)
  })

  test.each([
    ['another number is declined', { kind: 'outside', address: '+15550199' }, 'declined'],
    ['the consulted agent is accepted', agent(BOB), 'answered'],
  ] as const)('a blind transfer to %s', (_what, target, state) => {
    const { session } = steps.stepped
    steps.on({ kind: 'phone-transfers', channelId: phone(), target: { ...target, asked: 'x', refusal: null } })
    expect(steps.stepped.actions).toEqual([{ kind: 'transfer-progress', channelId: phone(), state }])
    expect(steps.stepped.session.group.legs).toEqual(session.group.legs)
  })
})

describe('a blind transfer at the phone', () => {
  const told = ({ stepped }: Steps) =>
    stepped.actions.flatMap((action) => (action.kind === 'transfer-progress' ? [action.state] : []))
  const begun = (): Steps => {
    const steps = talking()
    const target = { ...agent(BOB), asked: '8102', refusal: null } as const
    return steps.on({ kind: 'phone-transfers', channelId: steps.id(2), target })
  }

  test('that is reported twice calls its target once', () => {
    const steps = begun()
    expect(steps.asked).toContain('create 4')
    const target = { ...agent(BOB), asked: '8102', refusal: null } as const
    expect(steps.on({ kind: 'phone-transfers', channelId: steps.id(2), target }).asked).toEqual([])
  })

  test('tells the phone that the target has answered, before the channel ends, and nothing earlier', () => {
    const steps = begun()
    expect(told(steps)).toEqual([])
    expect(told(steps.on({ kind: 'ringing', channelId: steps.id(4) }))).toEqual([])
    steps.on({ kind: 'ready', channelId: steps.id(4), isUp: true })
    expect(steps.asked.slice(0, 2)).toEqual(['transfer-progress 2', 'drop 2'])
    expect(told(steps)).toEqual(['answered'])
  })

  test.each<[string, Input[], string]>([
    ['is busy', [], 'unavailable'],
    ['declines', [{ kind: 'ringing', channelId: '4' }], 'declined'],
  ])('whose target %s tells the phone the failure', (_how, before, state) => {
    const steps = begun()
    steps.on(...before.map((input) => ({ ...input, channelId: steps.id(4) }) as Input))
    const cause = state === 'declined' ? 21 : 17
    expect(told(steps.on({ kind: 'gone', channelId: steps.id(4), cause, sipCode: null }))).toEqual([state])
    expect(steps.state).toBe(CallState.connected)
  })

  test('to a target that is known to be busy tells the phone the failure at once', () => {
    const steps = talking()
    const target = { ...agent(BOB), asked: '8102', refusal: 'busy' } as const
    expect(told(steps.on({ kind: 'phone-transfers', channelId: steps.id(2), target }))).toEqual(['unavailable'])
  })

  test('of a phone that has hung up tells nothing', () => {
    const steps = begun().on({ kind: 'gone', channelId: 'x', cause: 16, sipCode: null })
    steps.on({ kind: 'gone', channelId: steps.id(2), cause: 16, sipCode: null })
    expect(told(steps.on({ kind: 'ringing', channelId: steps.id(4) }))).toEqual([])
  })
})

test.each([
  ['is lost', 44, EndReason.deviceUnavailable],
  ['does not answer', 19, EndReason.noAnswer],
])(
  "the phone of a blind transfer's target %s: its leg and the transfer end with the same reason",
  (_how, cause, reason) => {
    const steps = talking()
    steps.on(steps.transfers(null))
    steps.on(
      { kind: 'ringing', channelId: steps.id(4) },
      { kind: 'gone', channelId: steps.id(4), cause, sipCode: null },
    )
    expect(steps.leg(BOB)?.ending?.endReason).toBe(reason)
    expect(steps.leg()).toMatchObject({ state: CallState.connected, transfer: { failReason: reason } })
  },
)

test('an agent who dials the own extension hears that it is busy, and nothing is called', () => {
  const steps = new Steps('dials', agent(ALICE))
  expect(steps.asked).toEqual([])
  expect(steps.leg()).toMatchObject({ state: CallState.ended, ending: { endReason: EndReason.busy } })
})
