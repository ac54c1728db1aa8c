import { loadConfig } from '@switchhook/runtime'
import * as fc from 'fast-check'
import {
  BROKER_CONSUMER_TIMEOUT_MS,
  longestDeliveryTimeoutMs,
  longestUnackedMs,
  workerFields,
  workerRules,
} from './config.ts'

const REQUIRED = { AMQP_URL: 'amqp://127.0.0.1', REDIS_URL: 'redis://127.0.0.1' }
const load = (env: Record<string, string> = {}) => loadConfig(workerFields, { ...REQUIRED, ...env }, workerRules)

test('the default timeout and schedule are those of the specification', () => {
  const { DELIVERY_TIMEOUT, DELIVERY_RETRY_WAITS } = load()
  expect(DELIVERY_TIMEOUT).toBe(10_000)
  expect(DELIVERY_RETRY_WAITS.map((waitMs) => waitMs / 1_000)).toEqual([10, 60, 300, 1_800, 7_200, 14_400, 21_600])
  // 12 h 36 min and 10 s.
  expect(DELIVERY_RETRY_WAITS.reduce((sum, waitMs) => sum + waitMs, 0)).toBe((12 * 3_600 + 36 * 60 + 10) * 1_000)
})

test('timeout and schedule are configurable', () => {
  expect(load({ DELIVERY_TIMEOUT: '2s', DELIVERY_RETRY_WAITS: '1s, 250ms' })).toMatchObject({
    DELIVERY_TIMEOUT: 2_000,
    DELIVERY_RETRY_WAITS: [1_000, 250],
  })
})

test('the grace period must outlast a delivery in flight', () => {
  expect(() => load({ SHUTDOWN_GRACE: '10s' })).toThrow('SHUTDOWN_GRACE must be longer than DELIVERY_TIMEOUT')
})

test('a deadline with which a delivery could outlast RabbitMQ’s consumer timeout is rejected', () => {
  const grace = { SHUTDOWN_GRACE: '1h' }
  expect(load({ ...grace, DELIVERY_TIMEOUT: '124s' }).DELIVERY_TIMEOUT).toBe(124_000)
  expect(() => load({ ...grace, DELIVERY_TIMEOUT: '140s' })).toThrow(
    'DELIVERY_TIMEOUT is too long: with SUBSCRIPTION_CONCURRENCY=10 a delivery could stay unacknowledged for 1912s, ' +
      'and RabbitMQ closes the channel after 1800s; use at most 124s',
  )
  expect(() => load({ ...grace, DELIVERY_TIMEOUT: '124s', SUBSCRIPTION_CONCURRENCY: '2' })).toThrow('use at most 73s')
})

test('production does not start without a key for webhook secrets', () => {
  expect(() => load({ NODE_ENV: 'production' })).toThrow('SECRET_KEYS is required in production')
  const SECRET_KEYS = `one:${Buffer.alloc(32).toString('base64')}`
  expect(load({ NODE_ENV: 'production', SECRET_KEYS }).SECRET_KEYS).toHaveLength(1)
})

describe('the longest time unacknowledged', () => {
  // 610 s of holding, then 2 rounds and those of the lane. A round is the deadline, 36 s for Redis and 10 s for a confirm.
  test.each<[string, number, number, number]>([
    ['the default: 40 in a lane, 8 turns for retries', 10_000, 10, 610_000 + 7 * 56_000],
    ['one turn for all', 10_000, 1, 610_000 + 6 * 56_000],
    ['two turns, one of them for retries', 10_000, 2, 610_000 + 10 * 56_000],
    ['three turns, two of them for retries', 10_000, 3, 610_000 + 8 * 56_000],
    ['many turns', 10_000, 1_000, 610_000 + 7 * 56_000],
    ['a long deadline', 300_000, 10, 610_000 + 7 * 346_000],
  ])('%s', (_what, deliveryTimeoutMs, cap, expected) => {
    expect(longestUnackedMs(deliveryTimeoutMs, cap)).toBe(expected)
  })

  test('is within the consumer timeout for the longest deadline, and beyond it for any longer one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), (cap) => {
        const longestMs = longestDeliveryTimeoutMs(cap)
        expect(longestMs).toBeGreaterThan(60_000)
        expect(longestUnackedMs(longestMs, cap)).toBeLessThanOrEqual(BROKER_CONSUMER_TIMEOUT_MS)
        expect(longestUnackedMs(longestMs + 1, cap)).toBeGreaterThan(BROKER_CONSUMER_TIMEOUT_MS)
      }),
    )
  })
})
