import { randomBytes } from 'node:crypto'
import { loadConfig } from '@switchhook/runtime'
import { workerFields, workerRules } from './config.ts'

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

test('a deadline of more than a minute is rejected', () => {
  const grace = { SHUTDOWN_GRACE: '1h' }
  expect(load({ ...grace, DELIVERY_TIMEOUT: '60s' }).DELIVERY_TIMEOUT).toBe(60_000)
  expect(() => load({ ...grace, DELIVERY_TIMEOUT: '61s' })).toThrow('DELIVERY_TIMEOUT')
})

test('production does not start without a key for webhook secrets', () => {
  expect(() => load({ NODE_ENV: 'production' })).toThrow('SECRET_KEYS is required in production')
  const SECRET_KEYS = `one:${randomBytes(32).toString('base64')}`
  expect(load({ NODE_ENV: 'production', SECRET_KEYS }).SECRET_KEYS).toHaveLength(1)
})
