import { randomUUID } from 'node:crypto'
import { type CallId, CallState } from '@switchhook/contracts'
import type { Simulator } from '@switchhook/platform-simulator'
import { createStateStore, openRedis, type Redis } from '@switchhook/store'
import { canStartRedis, type RedisServer, type RedisServers, redisServers, silentLog } from '@switchhook/testkit'
import type { Answer } from '../../http/route.ts'
import { createTransact } from '../../state/transact.ts'
import { boundRoute } from '../../testing/bound-route.ts'
import { aSimulator } from '../../testing/simulator.ts'
import { type Center, createCenter, createRecordWith } from '../center/center.ts'
import { dial } from './dial-route.ts'
import { legRoutes } from './leg-routes.ts'

const ALICE = 'sip:alice@acme.example'

let servers: RedisServers
let server: RedisServer
let redis: Redis
let center: Center
let simulator: Simulator

const cli = (...args: readonly string[]): Promise<string> => servers.cli('-p', String(server.port), ...args)

/** These settings need a private server, because they would affect every test that shares one. */
const describeWithOwnRedis = canStartRedis() ? describe : describe.skip

beforeAll(async () => {
  if (!canStartRedis()) return
  servers = redisServers()
  server = await servers.start()
  redis = await openRedis({ url: `redis://127.0.0.1:${server.port}`, log: silentLog, name: 'api' })
  const store = createStateStore(redis)
  simulator = aSimulator([{ agentUri: ALICE, tenant: 'acme', device: 'SIM/alice' }], store)
  const transact = createTransact(store, () => {})
  const recordWith = createRecordWith(transact, 0, Date.now)
  center = createCenter({ store, transact, recordWith, platform: simulator, now: Date.now })
  await simulator.start(center.listener)
})

afterAll(async () => {
  if (!canStartRedis()) return
  await redis.close()
  await servers.close()
})

/** Calls the handler of the route. */
async function give(operationId: string, callId: CallId): Promise<Answer> {
  const route = boundRoute([dial, ...legRoutes], operationId, { platform: simulator, center, now: Date.now })
  return await route.handle({
    caller: { tenant: 'acme', clientId: 'acme-app', role: 'operator' },
    params: { callId },
    query: {},
    body: { agentUri: ALICE },
    requestId: 'direct',
    idFor: () => randomUUID(),
    isKeyed: false,
    isClosed: () => false,
  })
}

async function ringAlice(): Promise<CallId> {
  const alice = simulator.findAnyAgent(ALICE)
  const callId = alice && (await simulator.ring(alice, { from: '+15559000', ringForMs: null, talkForMs: null }))
  if (callId === undefined) throw new Error('The device accepts no call.')
  return callId
}

const stateOf = async (callId: CallId) => (await center.findCall('acme', callId))?.legs[ALICE]?.status.state

describeWithOwnRedis('a command while Redis refuses every write', () => {
  test.each<[string, string[], string[]]>([
    ['out of memory', ['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '0']],
    ['a read-only replica', ['replicaof', '127.0.0.1', '1'], ['replicaof', 'no', 'one']],
    [
      'without enough replicas',
      ['config', 'set', 'min-replicas-to-write', '1'],
      ['config', 'set', 'min-replicas-to-write', '0'],
    ],
  ])('%s: it is answered 503, changes nothing, and can be repeated later', async (_state, begin, end) => {
    const callId = await ringAlice()
    expect(await stateOf(callId)).toBe(CallState.alerting)
    await cli(...begin)
    try {
      await expect(give('answer', callId)).rejects.toMatchObject({ code: 'platform-unavailable' })
    } finally {
      await cli(...end)
    }
    await redis.ready()
    expect(await stateOf(callId)).toBe(CallState.alerting)
    expect(await give('answer', callId)).toMatchObject({ status: 202 })
    expect(await stateOf(callId)).toBe(CallState.connected)
    await give('hangup', callId)
  })
})
