import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Surroundings, startSurroundings } from '@switchhook/servicekit'
import { type ApiUnderTest, startApiUnderTest } from '../../../testing/api-under-test.ts'

const PASSWORD = `secret-${randomUUID()}`
const agentUri = 'sip:alice@acme.example'

let around: Surroundings<'acme'>
let folder: string

beforeAll(async () => {
  around = await startSurroundings('acme')
  folder = mkdtempSync(join(tmpdir(), 'open-asterisk-'))
  writeFileSync(join(folder, 'password'), PASSWORD)
})
afterAll(async () => {
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
