import type { Schemas } from '@switchhook/client'
import { judgeClock, judgeEndpoints, judgeRole, judgeStream, judgeTls } from './judge.ts'

test.each([
  [undefined, 'skipped', null],
  [400, 'ok', null],
  [-59_000, 'ok', null],
  [-300_000, 'finding', "The clock of this machine is 300 s behind the server's: set it by NTP."],
  [90_000, 'finding', "The clock of this machine is 90 s ahead of the server's: set it by NTP."],
])('a clock that is %s ms ahead: %s', (offsetMs, state, repair) => {
  expect(judgeClock(offsetMs)).toMatchObject({ check: 'clock', state, repair })
})

test.each([
  ['https://svc.example', {}, 'ok'],
  ['https://svc.example', { NODE_TLS_REJECT_UNAUTHORIZED: '1' }, 'ok'],
  ['https://svc.example', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'finding'],
  ['http://127.0.0.1:8080', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'skipped'],
])('the certificate of %s with %j: %s', (url, env, state) => {
  expect(judgeTls(url, env)).toMatchObject({ check: 'tls', state })
})

const me = (...roles: string[]) => ({ roles, tenant: 'acme' }) as unknown as Schemas['Me']

test.each([
  [me('viewer', 'operator'), 'operator', 'ok'],
  [me('viewer'), 'viewer', 'ok'],
  [me('viewer'), 'operator', 'finding'],
  [me(), 'viewer', 'finding'],
])('the roles %j, if %s is needed: %s', (caller, needed, state) => {
  expect(judgeRole(caller, needed)).toMatchObject({ check: 'role', state })
})

test.each([
  ['immediately, and again', { firstMs: 40, secondMs: 15_100, hasEnded: false }, 'ok', null],
  ['nothing', { firstMs: undefined, secondMs: undefined, hasEnded: false }, 'finding', 'turn off response buffering'],
  ['only the first message', { firstMs: 40, secondMs: undefined, hasEnded: false }, 'finding', 'read timeout'],
  ['the first message and an end', { firstMs: 40, secondMs: undefined, hasEnded: true }, 'finding', 'read timeout'],
])('a stream that brings %s', (_name, timing, state, repair) => {
  expect(judgeStream(timing)).toMatchObject({
    check: 'stream',
    state,
    repair: repair === null ? null : expect.stringContaining(repair),
  })
})

const endpoint = (more: object): Schemas['SubscriptionSummary'] =>
  ({
    subscriptionId: 's-1',
    url: 'https://x/hook',
    enabled: true,
    parked: 0,
    health: { state: 'closed', failingSince: null, lastFailureOutcome: null, lastFailureStatus: null },
    ...more,
  }) as unknown as Schemas['SubscriptionSummary']

const failing = {
  health: {
    state: 'open',
    failingSince: '2026-11-23T15:00:00Z',
    lastFailureOutcome: 'answered',
    lastFailureStatus: 503,
  },
}

test('each failing endpoint is a finding, and so are parked deliveries of one that works', () => {
  const found = judgeEndpoints([
    endpoint({}),
    endpoint(failing),
    endpoint({ parked: 4 }),
    endpoint({ ...failing, enabled: false }),
  ])
  expect(found).toEqual([
    {
      check: 'endpoint',
      state: 'finding',
      seen: 'https://x/hook fails since 2026-11-23T15:00:00Z: 503',
      repair: 'See what it gets wrong with "switchhook check s-1", and repair it.',
    },
    {
      check: 'endpoint',
      state: 'finding',
      seen: 'https://x/hook works again, and has 4 parked',
      repair: 'Send them again: "switchhook recover s-1 --watch".',
    },
  ])
})

test('endpoints that work are one line', () => {
  expect(judgeEndpoints([endpoint({}), endpoint({})])).toMatchObject([{ state: 'ok', seen: '2 looked at, none fails' }])
})
