import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PbxMemory } from '@switchhook/platform'
import { type Surroundings, startSurroundings } from '@switchhook/servicekit'
import { createStateStore, createTimerStore, openRedis, type Redis } from '@switchhook/store'
import { silentLog } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../../testing/api-under-test.ts'
import { createPbxMemory } from './open-asterisk.ts'

const PASSWORD = `secret-${randomUUID()}`
const agentUri = 'sip:alice@acme.example'

let around: Surroundings<'acme'>
let redis: Redis
let folder: string

beforeAll(async () => {
  around = await startSurroundings('acme')
  redis = await openRedis({ url: around.redis.redisUrl, log: silentLog, name: 'api' })
  folder = mkdtempSync(join(tmpdir(), 'open-asterisk-'))
  writeFileSync(join(folder, 'password'), PASSWORD)
})
afterAll(async () => {
  await redis.close()
  await around.close()
  rmSync(folder, { recursive: true })
})

describe('an api whose Asterisk cannot be reached', () => {
  let api: ApiUnderTest
  beforeAll(async () => {
    api = await startApiUnderTest({
      ...around.env,
      PLATFORM: 'asterisk',
      // Port 1 refuses connections.
      ASTERISK_URL: 'http://127.0.0.1:1',
      ASTERISK_PASSWORD_FILE: join(folder, 'password'),
      ASTERISK_AGENTS: JSON.stringify([{ agentUri, tenant: 'acme', endpoint: 'alice' }]),
      ASTERISK_TRUNK: 'pstn',
      ASTERISK_DEFAULT_CLI: '+15550000',
    })
  })
  afterAll(() => api.close())

  test('starts, takes requests, and shows the lost link', async () => {
    expect(api.takesRequests()).toBe(true)
    expect(api.isDegraded('platform')).toBe(true)
    const metrics = await api.metrics.text()
    expect(metrics).toMatch(/switchhook_platform_link\{state="lost",service="api"\} 1/)
    expect(metrics).toMatch(/switchhook_platform_unknown_channels\{service="api"\} 0/)
  })

  test('a dial is answered 503, and no call is stored', async () => {
    const headers = around.bearer('acme')
    const dial = { headers, json: { agentUri, destination: '+15550100' } }
    const answer = await api.call('POST', '/api/v1/voice/calls/dial', dial)
    expect(answer).toMatchObject({ status: 503, body: { code: 'platform-unavailable' } })
    const state = await api.call('GET', `/api/v1/voice/agents/${encodeURIComponent(agentUri)}/call-state`, { headers })
    expect(state.body).toMatchObject({ device: 'PJSIP/alice', calls: [] })
  })

  test('the password is in no log line', () => {
    expect(api.log.length).toBeGreaterThan(0)
    expect(
      JSON.stringify(api.log, (_key, value: unknown) => (value instanceof Error ? String(value.stack) : value)),
    ).not.toContain(PASSWORD)
  })
})

describe('the storage of the adapter', () => {
  let memory: PbxMemory
  let tenant: string
  beforeEach(() => {
    tenant = randomUUID()
    memory = createPbxMemory(createStateStore(redis), redis, Date.now)
  })
  const write = (expectedVersion: number, isListed: boolean) =>
    memory.write(tenant, {
      records: [{ key: 'asterisk:1', expectedVersion, value: { step: expectedVersion }, ttlMs: 60_000, isListed }],
      timers: [{ id: 'asterisk:1:check', dueInMs: 0, payload: null }],
    })
  const listed = async () => (await memory.list()).filter((one) => one.tenant === tenant)

  test('a call is listed from its first step to its last one', async () => {
    expect(await memory.read(tenant, ['asterisk:1'])).toEqual([{ version: 0, value: undefined }])
    expect(await write(0, true)).toBe('committed')
    expect(await write(1, true)).toBe('committed')
    expect(await listed()).toEqual([{ tenant, key: 'asterisk:1' }])
    expect(await write(2, false)).toBe('committed')
    expect(await listed()).toEqual([])
    expect(await memory.read(tenant, ['asterisk:1'])).toEqual([{ version: 3, value: { step: 2 } }])
  })

  test('a step of another version changes nothing', async () => {
    await write(0, true)
    expect(await write(0, true)).toBe('conflict')
    expect(await write(7, false)).toBe('conflict')
    expect(await listed()).toHaveLength(1)
  })

  test('the timers belong to the adapter', async () => {
    await write(0, true)
    const due = await createTimerStore(redis).claimDue(100, 60_000)
    expect(due.filter((timer) => timer.tenant === tenant).map(({ id }) => id.split(':')[0])).toEqual(['asterisk'])
  })
})
