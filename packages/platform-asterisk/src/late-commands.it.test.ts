import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { RealTimeMemory } from '@switchhook/conformance'
import { type CallId, CallState, newCallId, newCommandId } from '@switchhook/contracts'
import { PlatformUnavailable } from '@switchhook/platform'
import { eventually } from '@switchhook/testkit'
import { type AsteriskPlatform, createAsterisk } from './asterisk.ts'

const tenant = 'acme'
const AGENTS = Array.from({ length: 24 }, (_, n) => `sip:agent${n}@acme.example`)
/** Longer than a request to Asterisk may take, and shorter than two of them. */
const HANGS_MS = 9_000

const LISTS = /\/(channels|bridges)$/

/** Accepts every request and answers none while it hangs. */
let asterisk: Server
let isHanging: boolean
let whenPinged: () => void
/** Requests that were answered. */
let requested: string[]
/** How far the platform's clock is ahead. */
let aheadMs: number
let memory: RealTimeMemory
let platform: AsteriskPlatform

beforeEach(async () => {
  isHanging = false
  whenPinged = () => {}
  requested = []
  aheadMs = 0
  asterisk = createServer(({ method, url = '' }, response) => {
    if (isHanging) return
    if (url.endsWith('/ping')) whenPinged()
    requested.push(`${method} ${url}`)
    response.setHeader('content-type', 'application/json').end(LISTS.test(url) ? '[]' : '{}')
  })
  await new Promise<void>((resolve) => void asterisk.listen(0, '127.0.0.1', resolve))
  memory = new RealTimeMemory()
  const url = new URL(`http://127.0.0.1:${(asterisk.address() as AddressInfo).port}`)
  platform = createAsterisk({
    server: { url, user: 'switchhook', password: 'secret', ca: null },
    manager: null,
    app: 'switchhook',
    agents: AGENTS.map((agentUri, n) => ({ agentUri, tenant, endpoint: `agent${n}`, extension: null, answer: 'none' })),
    trunk: { endpoint: 'pstn', sipDomains: [] },
    defaultCli: '+15550000',
    ringSeconds: 30,
    memory,
    leaseMs: 5_000,
    verifyStorage: async () => {},
    liveCalls: async () => [],
    onLink: () => {},
    onUnknown: () => {},
    onError: () => {},
    now: () => Date.now() + aheadMs,
  })
})
afterEach(async () => {
  jest.restoreAllMocks()
  await platform.stop()
  memory.close()
  asterisk.closeAllConnections()
  await new Promise((resolve) => void asterisk.close(resolve))
})

const leg = (callId: CallId, agentUri: string) => ({ tenant, callId, agentUri, commandId: newCommandId() })
const dial = (agentUri: string, callId = newCallId()) =>
  platform.dial({ ...leg(callId, agentUri), destination: '+15550100', cli: null, correlationId: null })

test('a command that has grown old before its step begins is refused, although Asterisk answers', async () => {
  const [alice = '', bob = ''] = AGENTS
  const realNow = performance.now.bind(performance)
  // Begins behind, so that no clock goes back when the mock ends.
  let behindMs = 40_000
  jest.spyOn(performance, 'now').mockImplementation(() => realNow() - behindMs)
  const callId = newCallId()
  await dial(alice, callId)
  const stored = await platform.lookUp(tenant, callId)
  requested = []
  // As if the process had been stopped.
  whenPinged = () => void (behindMs -= 20_000)
  await expect(platform.hangup(leg(callId, alice))).rejects.toBeInstanceOf(PlatformUnavailable)
  await expect(dial(bob)).rejects.toBeInstanceOf(PlatformUnavailable)
  expect(requested).toEqual(Array(2).fill('GET /ari/asterisk/ping'))
  expect(await platform.lookUp(tenant, callId)).toEqual(stored)
})

test('commands that wait for a hanging Asterisk are refused in time, and are not sent when it answers again', async () => {
  isHanging = true
  // More than there are connections.
  const dials = Promise.allSettled(AGENTS.map((agentUri) => dial(agentUri)))
  const over = new AbortController()
  void sleep(HANGS_MS, undefined, { ref: false, signal: over.signal }).then(
    () => (isHanging = false),
    () => {},
  )
  const refused = { status: 'rejected', reason: expect.any(PlatformUnavailable) }
  expect(await dials).toEqual(AGENTS.map(() => refused))
  over.abort()
  isHanging = false
  await dial(AGENTS[0] ?? '')
  expect(requested.filter((request) => request.includes('/ping'))).toHaveLength(1)
  expect(requested.filter((request) => request.includes('/channels/create'))).toHaveLength(1)
})

test.each([
  ['that is young is repeated', 0, 1, CallState.initiated],
  ['that is older than 45 s is not repeated: its leg ends', 60_000, 0, CallState.ended],
])('an accepted dial whose Asterisk hung after the ping, and %s', async (_what, laterMs, created, state) => {
  const [alice = ''] = AGENTS
  const callId = newCallId()
  whenPinged = () => void (isHanging = true)
  memory.due = (timer) => platform.due(timer)
  // Until the request to create the channel is given up.
  await dial(alice, callId)
  whenPinged = () => {}
  aheadMs = laterMs
  requested = []
  isHanging = false
  await eventually(
    async () => {
      const [leg] = await platform.lookUp(tenant, callId)
      const creations = requested.filter((request) => request.includes('/channels/create'))
      expect([creations.length, leg?.state]).toEqual([created, state])
      expect(requested.some((request) => request.endsWith('/channels'))).toBe(true)
    },
    { timeoutMs: 30_000 },
  )
})
