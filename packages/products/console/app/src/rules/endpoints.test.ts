import type { Health, ParkedGroup, Recovery, SummaryItem } from '../api/model.ts'
import { attentionOf } from './endpoints.ts'

const HEALTHY: Health = {
  state: 'closed',
  consecutiveFailures: 0,
  openUntil: null,
  lastSuccessAt: '2026-11-20T12:00:00Z',
  lastFailureAt: null,
  lastFailureOutcome: null,
  lastFailureStatus: null,
  failingSince: null,
}

const endpoint = (id: string, more: Partial<SummaryItem> = {}): SummaryItem => ({
  subscriptionId: id,
  mode: 'post',
  url: `https://${id}.example/hook`,
  description: null,
  enabled: true,
  paused: false,
  pending: 0,
  waiting: 0,
  looked: 0,
  held: 0,
  oldestHeldAt: null,
  parked: 0,
  oldestParkedAt: null,
  deleteAfterUnusedSeconds: null,
  health: HEALTHY,
  ...more,
})

const failing = (status: number, consecutiveFailures = 3): Health => ({
  ...HEALTHY,
  consecutiveFailures,
  lastFailureAt: '2026-11-20T12:05:00Z',
  lastFailureOutcome: 'answered',
  lastFailureStatus: status,
  failingSince: '2026-11-20T12:01:00Z',
})

test('healthy and disabled endpoints need no attention', () => {
  expect(attentionOf([endpoint('a'), endpoint('b', { enabled: false })], [], [])).toEqual([])
})

test('a pull subscription whose clients are a minute late needs attention, unless it is one of a laptop, or paused', () => {
  const late = { mode: 'pull', url: null, held: 3, oldestHeldAt: '2026-11-20T12:00:00Z' } as const
  const [entry, ...others] = attentionOf(
    [
      endpoint('a', late),
      endpoint('b', { ...late, deleteAfterUnusedSeconds: 604_800 }),
      endpoint('c', { ...late, paused: true }),
      endpoint('d', { ...late, oldestHeldAt: new Date().toISOString() }),
    ],
    [],
    [],
  )
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    tone: 'warn',
    detail: 'Behind: its clients do not receive its deliveries in time. 3 deliveries held.',
    since: '2026-11-20T12:00:00Z',
  })
})

test('a failing endpoint says why, since when, and what waits', () => {
  const [entry] = attentionOf([endpoint('a', { health: failing(503), waiting: 2 })], [], [])
  expect(entry).toMatchObject({
    tone: 'warn',
    detail: 'Failing: it answered 503. 2 deliveries waiting for a retry.',
    since: '2026-11-20T12:01:00Z',
  })
})

test('the endpoint with the most parked deliveries is first', () => {
  const entries = attentionOf(
    [endpoint('few', { parked: 1 }), endpoint('ill', { health: failing(500) }), endpoint('many', { parked: 9 })],
    [],
    [],
  )
  expect(entries.map(({ subscriptionId }) => subscriptionId)).toEqual(['many', 'few', 'ill'])
})

test('an endpoint that was repaired still has its parked deliveries', () => {
  const group: ParkedGroup = {
    subscriptionId: 'a',
    url: 'https://a.example/hook',
    parkedReason: 'rejected',
    outcome: 'answered',
    status: 401,
    count: 4,
    since: '2026-11-20T11:00:00Z',
    latest: '2026-11-20T11:30:00Z',
  }
  const [entry] = attentionOf([endpoint('a', { parked: 4 })], [group], [])
  expect(entry).toMatchObject({
    tone: 'bad',
    detail: 'It works again, but it answered 401 before. 4 deliveries parked.',
    since: '2026-11-20T11:00:00Z',
  })
})

test('a recovery that waits is shown, a running one is not', () => {
  const recovery = (recoveryId: string, state: string) =>
    ({
      recoveryId,
      subscriptionId: 'a',
      state,
      waitingFor: 'endpoint-cooling-down',
      remaining: 7,
      updatedAt: 'x',
    }) as unknown as Recovery
  const entries = attentionOf([], [], [recovery('1', 'running'), recovery('2', 'paused')])
  expect(entries.map(({ detail }) => detail)).toEqual([
    'It waits for the cool-down of the endpoint to end. 7 deliveries remain.',
  ])
})
