import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createObserver, VirtualStorage } from '@switchhook/conformance'
import { CallState, compileSchema } from '@switchhook/contracts'
import fc from 'fast-check'
import { provisionAgents } from './agents.ts'
import { planCall, type Scenario, scenarioSchema } from './scenario.ts'
import { createSimulator } from './simulator.ts'

const shipped = readFileSync(join(import.meta.dirname, '../../../tools/local/scenarios/busy-center.json'), 'utf8')
const scenario = JSON.parse(shipped) as Scenario
const validate = compileSchema<Scenario>(scenarioSchema)

test('the shipped scenario is valid', () => expect(validate(scenario).ok).toBe(true))

test.each([
  ['no fields', '{}', '/seed'],
  ['a share above 1', shipped.replace('0.7', '1.7'), '/inboundShare'],
  ['an unknown field', shipped.replace('"seed": 7', '"seed": 7, "sead": 8'), '/sead'],
])('a scenario with %s is rejected, and the fault says where', (_name, json, pointer) => {
  expect(validate(JSON.parse(json))).toMatchObject({
    faults: expect.arrayContaining([{ pointer, detail: expect.any(String) }]),
  })
})

test('the same seed plans the same calls, another seed plans different calls', () => {
  const plans = (seed: number) => [0, 1, 2, 3, 4].map((n) => planCall({ ...scenario, seed }, n))
  expect(plans(7)).toEqual(plans(7))
  expect(plans(8)).not.toEqual(plans(7))
  expect(new Set(plans(7).map(({ number }) => number)).size).toBe(5)
})

test('every planned call has its steps in a possible order', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat({ max: 1_000_000 }), (seed, n) => {
      const plan = planCall({ ...scenario, seed }, n)
      expect(plan.number).toMatch(/^\+1555\d{7}$/)
      expect(plan.hangupAtMs).toBeGreaterThanOrEqual(plan.answerAtMs + scenario.talkMs.from)
      expect(plan.nextInMs).toBeGreaterThanOrEqual(0)
      if (plan.hold !== null) expect(plan.hold.resumeAtMs).toBeGreaterThan(plan.hold.atMs)
      if (plan.transfer !== null) expect(plan.transfer.completeAtMs).toBeLessThanOrEqual(plan.hangupAtMs)
    }),
  )
})

test('over many calls the shares and the rate match the scenario', () => {
  const plans = Array.from({ length: 5_000 }, (_, n) => planCall(scenario, n))
  const share = (isOne: (plan: (typeof plans)[number]) => boolean): number => plans.filter(isOne).length / plans.length
  expect(share(({ isInbound }) => isInbound)).toBeCloseTo(scenario.inboundShare, 1)
  expect(share(({ hold }) => hold !== null)).toBeCloseTo(scenario.holdShare, 1)
  expect(share(({ transfer }) => transfer !== null)).toBeCloseTo(scenario.transferShare, 1)
  const minutes = plans.reduce((sum, { nextInMs }) => sum + nextInMs, 0) / 60_000
  expect(plans.length / minutes / scenario.callsPerMinute).toBeCloseTo(1, 1)
})

/** Runs the scenario for four minutes of virtual time on this number of replicas. */
async function fourMinutes(replicas: number) {
  const storage = new VirtualStorage()
  const observer = createObserver()
  const simulators = Array.from({ length: replicas }, () =>
    createSimulator({
      agents: provisionAgents([{ agentUri: 'sip:agent-{n}@acme.example', tenant: 'acme', count: 200 }]),
      scenario,
      storage,
      liveCalls: async (_tenant, agentUri) => observer.liveLegs(agentUri),
      onError: (message, error) => {
        throw new Error(message, { cause: error })
      },
      now: () => storage.nowMs,
    }),
  )
  for (const simulator of simulators) await simulator.start(observer.listener)
  let next = 0
  await storage.advance(240_000, async (timer) => simulators[next++ % replicas]?.due(timer))
  observer.verify()
  const calls = new Set(observer.reports().map(({ callId }) => callId))
  const ended = observer.reports().filter(({ state }) => state === CallState.ended)
  return { calls: calls.size, reasons: new Set(ended.map(({ ending }) => ending?.endReason)), observer }
}

const ofOneReplica = fourMinutes(1)

test('a scenario holds, transfers and ends calls, and the call model allows every report', async () => {
  const { calls, reasons, observer } = await ofOneReplica
  expect(calls).toBeGreaterThan(400)
  expect([...reasons]).toEqual(expect.arrayContaining([1, 9]))
  expect(observer.reports().some(({ state }) => state === CallState.held)).toBe(true)
})

test('two replicas generate one stream of calls together', async () => {
  const [one, two] = [await ofOneReplica, await fourMinutes(2)]
  expect(two.calls).toBe(one.calls)
})
