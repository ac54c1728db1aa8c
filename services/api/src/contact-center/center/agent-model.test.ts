import {
  AgentReason,
  type AgentStatus,
  agentStatusSchema,
  CallState,
  type CallStatus,
  compileSchema,
  DeviceStatus,
  newCallId,
  Status,
} from '@switchhook/contracts'
import { applyReport } from '@switchhook/platform'
import { aReport } from '@switchhook/servicekit'
import fc from 'fast-check'
import { type Agent, newAgent, type PresenceSetting, viewOf } from './agent.ts'
import { type AgentChange, applyDevice, applyLegs, applyPresence, applyTimer } from './agent-model.ts'

const AGENT = 'sip:alice@acme.example'
const WRAP_UP_MS = 10_000
const { initiated, proceeding, alerting, connected, held, ended } = CallState
const LUNCH = 66
const MEETING = 82

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
const setting = (statusCode: number, more: Partial<PresenceSetting> = {}): PresenceSetting => ({
  statusCode,
  until: null,
  message: null,
  location: null,
  ...more,
})

/** The history of one agent, step by step; times in seconds. */
class Life {
  agent: Agent = newAgent(AGENT)
  readonly events: AgentStatus[] = []
  timers: AgentChange['timers'] = []
  readonly #calls = new Map<string, ReturnType<typeof newCallId>>()
  readonly #answered = new Map<string, string>()

  take(change: AgentChange | undefined): this {
    if (change === undefined) return this
    this.agent = change.agent
    if (change.status !== null) this.events.push(change.status)
    this.timers.push(...change.timers)
    return this
  }

  leg(second: number, state: CallState, call = 'one'): this {
    return this.take(applyLegs(this.agent, [this.status(second, state, call)], at(second), WRAP_UP_MS))
  }

  status(second: number, state: CallState, call: string): CallStatus {
    const callId = this.#calls.get(call) ?? newCallId()
    this.#calls.set(call, callId)
    const leg = applyReport(undefined, aReport({ callId, state, at: at(second) }))
    if (leg === undefined) throw new Error('a first report makes a leg')
    if (state === connected) this.#answered.set(call, at(second))
    return { ...leg.status, answeredAt: this.#answered.get(call) ?? null }
  }

  set(second: number, presence: PresenceSetting): this {
    return this.take(applyPresence(this.agent, presence, at(second)))
  }

  /** Fires the timer that was set last. */
  fire(second: number): this {
    const timer = this.timers.at(-1)
    if (timer === undefined) throw new Error('no timer was set')
    return this.take(applyTimer(this.agent, timer.payload, at(second)))
  }

  device(order: number, online: boolean): this {
    const report = { tenant: 'acme', agentUri: AGENT, order, online, at: at(order) }
    return this.take(applyDevice(this.agent, report))
  }

  /** Status and reason of each event. */
  get reported(): [number, number][] {
    return this.events.map(({ statusCode, reason }) => [statusCode, reason])
  }
}

const { setByApi, callStarted, afterCallWorkStarted, untilExpired, device, logonOrLogoff } = AgentReason
const overReason = AgentReason.ended
const { available, onThePhone, afterCallWork, offline } = Status

test('a new agent is available, logged on and idle', () => {
  expect(viewOf(newAgent(AGENT))).toEqual({
    statusCode: available,
    standingStatusCode: available,
    pendingStatusCode: null,
    deviceStatus: DeviceStatus.idle,
    loggedOn: true,
    until: null,
    message: null,
    location: null,
  })
})

describe('calls hide the status that was set', () => {
  test('an answered call: on the phone, after-call work, and back', () => {
    const life = new Life().leg(1, initiated).leg(2, proceeding).leg(3, connected).leg(9, ended)
    expect(life.reported).toEqual([
      [onThePhone, callStarted],
      [afterCallWork, afterCallWorkStarted],
    ])
    expect(life.events[1]).toMatchObject({ until: at(19), previousStatusCode: onThePhone, deviceStatus: 1 })
    expect(life.timers.at(-1)?.dueInMs).toBe(10_000)
    expect(life.fire(19).reported.at(-1)).toEqual([available, overReason])
  })

  test('an unanswered outbound call has no after-call work', () => {
    expect(new Life().leg(1, initiated).leg(2, proceeding).leg(5, ended).reported).toEqual([
      [onThePhone, callStarted],
      [available, overReason],
    ])
  })

  test('a ringing call changes only the device status', () => {
    const life = new Life().leg(1, alerting).leg(5, ended)
    expect(life.reported).toEqual([
      [available, device],
      [available, device],
    ])
    expect(life.events.map(({ deviceStatus }) => deviceStatus)).toEqual([DeviceStatus.ringing, DeviceStatus.idle])
  })

  test('on the phone lasts until the last leg has ended', () => {
    const life = new Life().leg(1, connected, 'one').leg(2, alerting, 'two').leg(3, ended, 'one')
    expect(viewOf(life.agent)).toMatchObject({ statusCode: onThePhone, deviceStatus: DeviceStatus.ringing })
    expect(viewOf(life.leg(4, ended, 'two').agent).statusCode).toBe(afterCallWork)
  })

  test('a new call ends after-call work', () => {
    const life = new Life().leg(1, connected, 'one').leg(2, ended, 'one').leg(3, initiated, 'two')
    expect(viewOf(life.agent).statusCode).toBe(onThePhone)
    expect(life.fire(12).reported.at(-1)).toEqual([onThePhone, callStarted])
    expect(viewOf(life.leg(13, ended, 'two').agent).statusCode).toBe(available)
  })

  test('with a wrap-up time of 0 there is no after-call work', () => {
    const life = new Life().leg(1, connected)
    life.take(applyLegs(life.agent, [life.status(5, ended, 'one')], at(5), 0))
    expect(life.reported.at(-1)).toEqual([available, overReason])
  })

  test.each<[string, (life: Life) => Life, DeviceStatus]>([
    ['is in use', (life) => life.leg(1, connected), DeviceStatus.inUse],
    ['is on hold when all calls are', (life) => life.leg(1, held, 'one').leg(2, held, 'two'), DeviceStatus.onHold],
    ['rings while in use', (life) => life.leg(1, connected, 'one').leg(2, alerting, 'two'), DeviceStatus.ringInUse],
    ['is unavailable', (life) => life.device(1, false), DeviceStatus.unavailable],
    ['is back', (life) => life.device(1, false).device(2, true), DeviceStatus.idle],
    [
      'stays away if an older report comes late',
      (life) => life.device(2, false).device(1, true),
      DeviceStatus.unavailable,
    ],
  ])('the device %s', (_name, tell, deviceStatus) => {
    expect(viewOf(tell(new Life()).agent).deviceStatus).toBe(deviceStatus)
  })
})

describe('setting the status', () => {
  test('takes effect immediately and changes the standing status', () => {
    const life = new Life().set(1, setting(LUNCH, { message: 'back at two', location: 'canteen' }))
    expect(life.events).toEqual([
      expect.objectContaining({
        statusCode: LUNCH,
        previousStatusCode: available,
        standingStatusCode: LUNCH,
        message: 'back at two',
        location: 'canteen',
        until: null,
        reason: setByApi,
        sequence: 1,
        occurredAt: at(1),
      }),
    ])
  })

  test('with an end is temporary; status, message and location revert to the standing ones', () => {
    const life = new Life().set(1, setting(MEETING)).set(2, setting(LUNCH, { until: at(60), message: 'soup' }))
    expect(viewOf(life.agent)).toMatchObject({ statusCode: LUNCH, standingStatusCode: MEETING, until: at(60) })
    life.fire(60)
    expect(life.events.at(-1)).toMatchObject({
      statusCode: MEETING,
      reason: untilExpired,
      until: null,
      message: null,
    })
  })

  test('that ended during an outage of an hour ends after it, and so does after-call work', () => {
    const hour = 3_600
    const away = new Life().set(1, setting(LUNCH, { until: at(60) })).fire(hour)
    expect(away.events.at(-1)).toMatchObject({ statusCode: available, reason: untilExpired, occurredAt: at(hour) })
    const wrapUp = new Life().leg(1, connected).leg(2, ended).fire(hour)
    expect(wrapUp.events.at(-1)).toMatchObject({ statusCode: available, occurredAt: at(hour) })
  })

  test('never reverts to another temporary status', () => {
    const life = new Life().set(1, setting(LUNCH, { until: at(100) })).set(2, setting(MEETING, { until: at(50) }))
    expect(life.fire(50).reported.at(-1)).toEqual([available, untilExpired])
  })

  test('replaces status and timer; the old timer is ignored', () => {
    const life = new Life().set(1, setting(LUNCH, { until: at(50) }))
    const [old] = life.timers
    life.set(2, setting(LUNCH, { until: at(90) }))
    if (old === undefined) throw new Error('a timer was set')
    expect(applyTimer(life.agent, old.payload, at(50))).toBeUndefined()
    expect(viewOf(life.set(3, setting(MEETING)).agent)).toMatchObject({ statusCode: MEETING, until: null })
  })

  test('to the same status again makes no second event', () => {
    expect(new Life().set(1, setting(LUNCH)).set(2, setting(LUNCH)).events).toHaveLength(1)
  })

  test('to offline logs off, to any other status logs on again; a temporary offline does neither', () => {
    const life = new Life().set(1, setting(offline)).set(2, setting(available))
    expect(life.reported).toEqual([
      [offline, logonOrLogoff],
      [available, logonOrLogoff],
    ])
    life.set(3, setting(offline, { until: at(60) }))
    expect(life.events.at(-1)).toMatchObject({ statusCode: offline, loggedOn: true, reason: setByApi })
    expect(life.fire(60).events.at(-1)).toMatchObject({ statusCode: available, loggedOn: true, reason: untilExpired })
  })

  test('during a call takes effect after the call and its after-call work; the latest one wins', () => {
    const life = new Life().leg(1, connected).set(2, setting(LUNCH)).set(3, setting(MEETING))
    expect(life.events.at(-1)).toMatchObject({
      statusCode: onThePhone,
      pendingStatusCode: MEETING,
      standingStatusCode: available,
      reason: setByApi,
    })
    life.leg(5, ended)
    expect(viewOf(life.agent)).toMatchObject({ statusCode: afterCallWork, pendingStatusCode: MEETING })
    life.fire(15)
    expect(life.events.at(-1)).toMatchObject({ statusCode: MEETING, pendingStatusCode: null, reason: overReason })
  })

  test('during a call has no effect if its end has passed by then', () => {
    const life = new Life()
      .leg(1, connected)
      .set(2, setting(LUNCH, { until: at(3) }))
      .leg(5, ended)
      .fire(15)
    expect(viewOf(life.agent)).toMatchObject({ statusCode: available, pendingStatusCode: null })
  })

  test('during a call with an end sets the timer when it takes effect', () => {
    const life = new Life()
      .leg(1, connected)
      .set(2, setting(LUNCH, { until: at(60) }))
      .leg(5, ended)
      .fire(15)
    expect(viewOf(life.agent)).toMatchObject({ statusCode: LUNCH, until: at(60) })
    expect(life.fire(60).reported.at(-1)).toEqual([available, untilExpired])
  })

  test('during after-call work ends the after-call work immediately', () => {
    const life = new Life().leg(1, connected).leg(5, ended).set(6, setting(LUNCH))
    expect(life.reported.at(-1)).toEqual([LUNCH, setByApi])
    expect(life.fire(15).reported.at(-1)).toEqual([LUNCH, setByApi])
  })

  test('that expires during a call changes only the hidden status', () => {
    const life = new Life().set(1, setting(LUNCH, { until: at(10), message: 'soup' }))
    const [expiry] = life.timers
    life.leg(2, connected)
    if (expiry === undefined) throw new Error('a timer was set')
    life.take(applyTimer(life.agent, expiry.payload, at(10)))
    expect(life.events.at(-1)).toMatchObject({ statusCode: onThePhone, message: null, reason: untilExpired })
    expect(viewOf(life.leg(12, ended).fire(22).agent).statusCode).toBe(available)
  })

  test('to after-call work sets no timer', () => {
    const life = new Life().set(1, setting(afterCallWork))
    expect(life.timers).toEqual([])
    expect(viewOf(life.agent)).toMatchObject({ statusCode: afterCallWork, standingStatusCode: afterCallWork })
  })
})

test('`since` is the time when the effective status began', () => {
  const life = new Life().set(1, setting(LUNCH)).set(2, setting(LUNCH, { message: 'soup' }))
  expect(life.agent.since).toBe(at(1))
  expect(life.leg(3, connected).agent.since).toBe(at(3))
})

test('the end of a temporary status does not depend on how far the last event was ahead of the clock', () => {
  const life = new Life().set(30, setting(LUNCH)).set(10, setting(MEETING, { until: at(20) }))
  expect(life.events.at(-1)).toMatchObject({ until: at(20), occurredAt: at(30).replace('.000', '.001') })
  expect(life.timers.at(-1)?.dueInMs).toBe(10_000)
})

describe('random changes in random order', () => {
  type Act = (life: Life, second: number) => void
  const act = fc.oneof(
    fc
      .record({
        state: fc.constantFrom(initiated, alerting, connected, held, ended),
        call: fc.constantFrom('one', 'two'),
      })
      .map(
        ({ state, call }): Act =>
          (life, second) =>
            void life.leg(second, state, call),
      ),
    fc.record({ code: fc.constantFrom(1, 2, 66, 146), forSeconds: fc.option(fc.integer({ min: 1, max: 30 })) }).map(
      ({ code, forSeconds }): Act =>
        (life, second) => {
          life.set(second, setting(code, { until: forSeconds === null ? null : at(second + forSeconds) }))
        },
    ),
    fc.boolean().map(
      (online): Act =>
        (life, second) =>
          void life.device(second, online),
    ),
    fc.constant<Act>((life, second) => {
      for (const { payload } of life.timers.filter(({ payload: { until } }) => until <= at(second))) {
        life.take(applyTimer(life.agent, payload, at(second)))
      }
    }),
  )
  const isValid = compileSchema<AgentStatus>(agentStatusSchema)

  test('sequences have no gap, every event reports a change, and the effective status follows its rule', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const life = new Life()
        acts.forEach((doIt, index) => {
          const before = viewOf(life.agent)
          const count = life.events.length
          doIt(life, index + 1)
          if (life.events.length === count) expect(viewOf(life.agent)).toEqual(before)
          const { overlay, temporary, standing } = life.agent
          const set = (temporary ?? standing).statusCode
          const over = overlay?.kind === 'call' ? onThePhone : overlay?.kind === 'wrap-up' ? afterCallWork : set
          expect(viewOf(life.agent).statusCode).toBe(over)
        })
        expect(life.events.map(({ sequence }) => sequence)).toEqual(life.events.map((_event, index) => index + 1))
        for (const event of life.events) expect(isValid(event)).toMatchObject({ ok: true })
      }),
    )
  })

  test('whatever the clocks of the processes say, time goes forward with the sequence, by 1 ms at least', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(act, fc.integer({ min: 0, max: 59 })), { maxLength: 40 }), (acts) => {
        const life = new Life()
        for (const [doIt, second] of acts) doIt(life, second)
        const times = life.events.map(({ occurredAt }) => occurredAt)
        expect(times).toEqual([...new Set(times)].toSorted())
      }),
    )
  })

  test('after all calls and all timers, the effective status is the standing status', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const life = new Life()
        acts.forEach((doIt, index) => {
          doIt(life, index + 1)
        })
        life.leg(50, ended, 'one').leg(50, ended, 'two')
        for (let round = 0; round < 3; round++) {
          for (const { payload } of life.timers.slice()) life.take(applyTimer(life.agent, payload, at(100)))
        }
        expect(life.agent).toMatchObject({ overlay: null, temporary: null, pending: null, calls: [] })
        expect(viewOf(life.agent).statusCode).toBe(life.agent.standing.statusCode)
      }),
    )
  })
})
