import { randomUUID } from 'node:crypto'
import { type CallId, CallState, newCallId, newCommandId } from '@switchhook/contracts'
import type { LegReport, ProvisionedAgent } from '@switchhook/platform'
import {
  createOutbox,
  createStateStore,
  createTimerStore,
  openRedis,
  type Redis,
  type StateChange,
  type StateStore,
} from '@switchhook/store'
import { eventually, type TestRedis, useRedis } from '@switchhook/testkit'
import { createTransact } from '../../../state/transact.ts'
import { aSimulator } from '../../../testing/simulator.ts'
import { callKey } from '../../center/call.ts'
import { createCenter, createRecordWith } from '../../center/center.ts'

let server: TestRedis
let redis: Redis
let tenant: string
let alice: ProvisionedAgent

useRedis(openRedis, (opened) => ({ server, redis } = opened))
beforeEach(async () => {
  await server.flush()
  tenant = randomUUID()
  alice = { agentUri: 'sip:alice@acme.example', tenant, device: 'SIM/alice' }
})

/** A replica whose commits are collected. `isListening`: the center also gets the reports, in a list. */
async function startReplica() {
  const commits: StateChange[] = []
  const reported: LegReport[] = []
  const plain = createStateStore(redis)
  const store: StateStore = {
    ...plain,
    commit: async (of, change) => {
      commits.push(change)
      return plain.commit(of, change)
    },
  }
  const transact = createTransact(store, () => {})
  const recordWith = createRecordWith(transact, 0, Date.now)
  const simulator = aSimulator([alice], store, recordWith)
  const center = createCenter({ store, transact, recordWith, platform: simulator, now: Date.now })
  await simulator.start({
    ...center.listener,
    legs: async (reports) => {
      reported.push(...reports)
      await center.listener.legs(reports)
    },
  })
  return { simulator, center, commits, reported }
}

const call = { from: '+15559000', ringForMs: null, talkForMs: null }

test('a step, its calls, agents and events are written together, and no timer repeats its reports', async () => {
  const { simulator, center, commits, reported } = await startReplica()
  const callId = (await simulator.ring(alice, call)) ?? fail()
  const command = { tenant, callId, agentUri: alice.agentUri, commandId: newCommandId() }
  await simulator.answer({ ...command, holdFirst: [] })
  expect(commits.map(({ events }) => events.map(({ eventType }) => eventType))).toEqual([
    ['call.status', 'agent.status'],
    ['call.status', 'agent.status'],
  ])
  expect(commits.flatMap(({ timers }) => timers.map(({ id }) => id)).filter((id) => id.includes(':tell'))).toEqual([])
  expect(reported).toEqual([])
  expect((await center.findCall(tenant, callId))?.legs[alice.agentUri]?.status.state).toBe(CallState.connected)
  expect(await createOutbox(redis).depth()).toBe(4)
})

test('two replicas that act on one call at the same time lose no step and no event', async () => {
  const [one, other] = [await startReplica(), await startReplica()]
  const calls = await Promise.all([1, 2].map(async () => (await one.simulator.ring(alice, call)) ?? fail()))
  const commandFor = (callId: (typeof calls)[number]) => ({
    tenant,
    callId,
    agentUri: alice.agentUri,
    commandId: newCommandId(),
  })
  // Both steps change the agent, and only one of two concurrent commits finds the version that it has read.
  await Promise.all(calls.map((callId, at) => (at === 0 ? one : other).simulator.hangup(commandFor(callId))))
  for (const callId of calls) {
    expect((await one.center.findCall(tenant, callId))?.legs[alice.agentUri]?.status).toMatchObject({
      state: CallState.ended,
      sequence: 2,
    })
  }
  expect((await one.center.readAgent(tenant, alice.agentUri)).calls).toEqual([])
})

test('an end is recorded once, although the call outlives its record, and the replica too', async () => {
  const first = await startReplica()
  const callId = (await first.simulator.ring(alice, call)) ?? fail()
  const command = () => ({ tenant, callId, agentUri: alice.agentUri, commandId: newCommandId() })
  await first.simulator.answer({ ...command(), holdFirst: [] })
  const consultationCallId = newCallId()
  const transfer = { target: '+15550102', correlationId: null, consultationCallId }
  await first.simulator.transfer({ ...command(), ...transfer })
  await first.simulator.resume({ ...command(), holdFirst: [] })
  expect((await first.center.findCall(tenant, consultationCallId))?.legs[alice.agentUri]?.status.state).toBe(
    CallState.ended,
  )
  await forget(consultationCallId)

  const next = await startReplica()
  await next.simulator.hold(command())
  await next.simulator.hangup(command())
  expect(await next.center.findCall(tenant, consultationCallId)).toBeUndefined()
  await forget(callId)
  // A timer falls due after the end.
  await (await startReplica()).simulator.remote(callId, 'hangup', tenant)
  expect(await next.center.findCall(tenant, callId)).toBeUndefined()
})

test('a step of a version that recorded reports after the write is reported before the next step', async () => {
  const { simulator, center, reported } = await startReplica()
  const former = aSimulator([alice], createStateStore(redis))
  // This process died between the write of the step and its report.
  const callId = (await former.ring(alice, call)) ?? fail()
  expect(await center.findCall(tenant, callId)).toBeUndefined()
  await simulator.hangup({ tenant, callId, agentUri: alice.agentUri, commandId: newCommandId() })
  expect(reported).toHaveLength(1)
  expect((await center.findCall(tenant, callId))?.legs[alice.agentUri]?.status).toMatchObject({
    state: CallState.ended,
    sequence: 2,
  })
  expect(await createTimerStore(redis).overdueMs()).toBe(0)
})

/** As ten minutes after the end. */
async function forget(callId: CallId): Promise<void> {
  const store = createStateStore(redis)
  const key = callKey(callId)
  const [found] = await store.read(tenant, [key])
  const record = { key, value: {}, ttlMs: 1, expectedVersion: found?.version ?? 0 }
  await store.commit(tenant, { records: [record], events: [], timers: [] })
  await eventually(async () => expect((await store.read(tenant, [key]))[0]?.value).toBeUndefined())
}

function fail(): never {
  throw new Error('The device accepts no call.')
}
