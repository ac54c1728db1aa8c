import { randomUUID } from 'node:crypto'
import { type CallId, CallState } from '@switchhook/contracts'
import { type Platform, PlatformUnavailable } from '@switchhook/platform'
import { aReport } from '@switchhook/servicekit'
import { createStateStore, openRedis, type Redis } from '@switchhook/store'
import { useRedis } from '@switchhook/testkit'
import type { Answer } from '../../http/route.ts'
import { createTransact } from '../../state/transact.ts'
import { boundRoute } from '../../testing/bound-route.ts'
import { type Center, createCenter, createRecordWith } from '../center/center.ts'
import { dial } from './dial-route.ts'
import { legRoutes } from './leg-routes.ts'
import { transfer } from './transfer-route.ts'

const ALICE = 'sip:alice@acme.example'

let redis: Redis
let center: Center
let tenant: string
/** The platform's reaction to a command. */
let obey: () => Promise<void>
let sent: string[]
let remoteAnswer: boolean
/** Whether the platform knows the call. */
let isKnown: boolean

const taking = (name: string) => async (): Promise<boolean> => {
  sent.push(name)
  await obey()
  return isKnown
}

const platform: Platform = {
  start: async () => {},
  stop: async () => {},
  findAgent: async (_tenant, agentUri) => ({ agentUri, tenant, device: null, remoteAnswer }),
  listAgents: async () => [],
  dial: async () => void (await taking('dial')()),
  answer: taking('answer'),
  hangup: taking('hangup'),
  hold: taking('hold'),
  resume: taking('resume'),
  transfer: taking('transfer'),
  completeTransfer: taking('completeTransfer'),
  lookUp: async () => [],
}

useRedis(openRedis, (opened) => ({ redis } = opened))

beforeEach(() => {
  tenant = randomUUID()
  sent = []
  remoteAnswer = true
  isKnown = true
  obey = async () => {}
  const store = createStateStore(redis)
  const transact = createTransact(store, () => {})
  const recordWith = createRecordWith(transact, 0, Date.now)
  center = createCenter({ store, transact, recordWith, platform, now: Date.now })
})

/** Calls the handler of the route. */
async function give(
  operationId: string,
  callId: string,
  body: object = {},
  idFor: (purpose: string) => string = () => randomUUID(),
): Promise<Answer> {
  const route = boundRoute([dial, ...legRoutes, transfer], operationId, { platform, center, now: Date.now })
  return route.handle({
    caller: { tenant, clientId: 'acme-app', role: 'operator' },
    params: { callId },
    query: {},
    body: { agentUri: ALICE, destination: '+15550100', transferTarget: '+15550111', ...body },
    requestId: 'direct',
    idFor,
    isKeyed: false,
    isClosed: () => false,
  })
}

const idOf = (answer: Answer): CallId => (answer.body as { callId: CallId }).callId

async function aCall(state: CallState): Promise<CallId> {
  const callId = randomUUID() as CallId
  await center.listener.legs([aReport({ tenant, callId, state, at: new Date().toISOString() })])
  return callId
}

const unavailable = { code: 'platform-unavailable' }

describe('a command that certainly did not reach the platform', () => {
  beforeEach(() => {
    obey = () => Promise.reject(new PlatformUnavailable('no connection'))
  })

  test.each([
    ['answer', CallState.alerting],
    ['hangup', CallState.connected],
    ['hold', CallState.connected],
    ['resume', CallState.held],
    ['transfer', CallState.connected],
  ])('%s is answered 503, and nothing changes', async (operationId, state) => {
    const callId = await aCall(state)
    const before = await center.findCall(tenant, callId)
    await expect(give(operationId, callId)).rejects.toMatchObject(unavailable)
    expect(await center.findCall(tenant, callId)).toEqual(before)
  })

  test('a dial is answered 503, frees the device, and reports no end of a call that never began', async () => {
    await expect(give('dial', '', { correlationId: 'crm-1' })).rejects.toMatchObject(unavailable)
    expect((await center.readAgent(tenant, ALICE)).reserved).toEqual([])
    obey = async () => {}
    // The same dial again is a new dial, and not the failed one.
    expect(await give('dial', '', { correlationId: 'crm-1' })).toMatchObject({ status: 202, body: { noop: false } })
    expect(sent).toEqual(['dial', 'dial'])
  })
})

test('a command on a call that the platform has forgotten ends the leg, and the agent can dial', async () => {
  const callId = await aCall(CallState.connected)
  isKnown = false
  const hangup = randomUUID()
  expect(await give('hangup', callId, {}, () => hangup)).toMatchObject({ status: 202 })
  const leg = (await center.findCall(tenant, callId))?.legs[ALICE]?.status
  expect(leg).toMatchObject({ state: CallState.ended, endReason: 12, commandId: hangup })
  expect((await center.readAgent(tenant, ALICE)).calls).toEqual([])
})

test('an attended transfer that is repeated with the same ids after a 503 has a consultation that takes commands', async () => {
  const callId = await aCall(CallState.connected)
  const ids = { command: randomUUID(), consultation: randomUUID() }
  const again = () => give('transfer', callId, {}, (purpose) => ids[purpose as keyof typeof ids])
  obey = () => Promise.reject(new PlatformUnavailable('no connection'))
  await expect(again()).rejects.toMatchObject(unavailable)
  await expect(give('hangup', ids.consultation)).rejects.toMatchObject({ code: 'call-not-found' })
  obey = async () => {}
  expect(await again()).toMatchObject({ status: 202, body: { consultationCallId: ids.consultation } })
  expect(await give('hangup', ids.consultation)).toMatchObject({ status: 202 })
})

test('a dial that may have been sent is answered 202; if the platform does not know it, its end is reported', async () => {
  const callId = idOf(await give('dial', ''))
  expect((await center.findCall(tenant, callId))?.legs).toEqual({})
  await center.probeTimerDue({ tenant, payload: { callId } })
  expect((await center.findCall(tenant, callId))?.legs[ALICE]?.status).toMatchObject({
    state: CallState.ended,
    endReason: 12,
    previousState: CallState.initiated,
    sequence: 2,
  })
})

test('a dial that was stored but not sent before the api died is sent by the repeated request', async () => {
  obey = () => new Promise<never>(() => {})
  void give('dial', '', { correlationId: 'crm-2' })
  while (sent.length === 0) await new Promise((resolve) => setImmediate(resolve))
  obey = async () => {}
  const repeated = await give('dial', '', { correlationId: 'crm-2' })
  // An answer that is not `isUnchanged` is audited.
  expect(repeated).toMatchObject({ status: 202, body: { noop: false } })
  expect(repeated.isUnchanged).toBeUndefined()
  expect(sent).toEqual(['dial', 'dial'])
})

describe('a command that the state of the call does not allow is not sent', () => {
  test.each([
    ['answer', CallState.held],
    ['hold', CallState.alerting],
    ['resume', CallState.alerting],
    ['transfer', CallState.alerting],
    ['hold', CallState.ended],
  ])('%s in state %i', async (operationId, state) => {
    const callId = await aCall(state)
    await expect(give(operationId, callId)).rejects.toMatchObject({ code: 'invalid-call-state' })
    expect(sent).toEqual([])
  })

  test('nor is answer to a device that cannot be made to answer', async () => {
    remoteAnswer = false
    const callId = await aCall(CallState.alerting)
    await expect(give('answer', callId)).rejects.toMatchObject({
      code: 'remote-answer-unsupported',
      extra: { currentState: CallState.alerting, allowedCommands: ['hangup'] },
    })
    expect(sent).toEqual([])
  })

  test('nor is a transfer to the other party of the call', async () => {
    const callId = await aCall(CallState.connected)
    await expect(give('transfer', callId, { transferTarget: '+15550100' })).rejects.toMatchObject({
      code: 'invalid-call-state',
      extra: { detail: 'The transferTarget is the other party of this call. Name another target.' },
    })
    expect(sent).toEqual([])
  })

  test('neither is a command for a state that is already reached', async () => {
    const callId = await aCall(CallState.held)
    expect(await give('hold', callId)).toMatchObject({ status: 202, body: { noop: true } })
    expect(sent).toEqual([])
  })
})
