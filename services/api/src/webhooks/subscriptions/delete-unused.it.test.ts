import { parseSubscriptionId } from '@switchhook/contracts'
import { type Surroundings, startSurroundings } from '@switchhook/servicekit'
import { createPullerStore, createStateStore, openRedis, type Redis } from '@switchhook/store'
import { eventually, silentLog } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'
import { watchUse } from './delete-unused.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const AWAY_MS = 75_000
const json = { mode: 'pull', eventTypes: ['call.status'], deleteAfterUnusedSeconds: 60 }

let around: Surroundings<'acme'>
let redis: Redis
let api: ApiUnderTest
const headers = () => around.bearer('acme')

beforeAll(async () => {
  around = await startSurroundings('acme')
  redis = await openRedis({ url: around.redis.redisUrl, log: silentLog, name: 'test' })
  api = await startApiUnderTest(around.env)
})
afterAll(async () => {
  await api.close()
  await redis.close()
  await around.close()
})

test('an outage of the api that is longer than the setting deletes no subscription', async () => {
  const { body } = await api.call('POST', PATH, { headers: headers(), json })
  const id = parseSubscriptionId((body as { id: string }).id)
  await api.close()
  // Its client asked until the outage, and the timer fell due during it.
  const beganAtMs = Date.now() - AWAY_MS
  await createPullerStore(redis).note(id, 'crm', beganAtMs)
  const watched = { id, tenant: 'acme', deleteAfterUnusedSeconds: 60 }
  await watchUse(createStateStore(redis), watched, beganAtMs - AWAY_MS, 0)
  api = await startApiUnderTest(around.env)
  const overdue = async () => (await api.metrics.text()).match(/^switchhook_timers_overdue_seconds\{.*\} (.+)$/m)?.[1]
  await eventually(async () => expect(await overdue()).toBe('0'))
  expect((await api.call('GET', `${PATH}/${id}`, { headers: headers() })).status).toBe(200)
})
