import { loadConfig } from '@switchhook/runtime'
import { fanoutFields } from './config.ts'

const REQUIRED = { AMQP_URL: 'amqp://127.0.0.1', REDIS_URL: 'redis://127.0.0.1' }

test('the delivery log is on by default, keeps deliveries beyond their schedule, and can be turned off', () => {
  const { DELIVERY_LOG_SIZE, DELIVERY_LOG_RETENTION, DELIVERY_RETENTION } = loadConfig(fanoutFields, REQUIRED)
  expect([DELIVERY_LOG_SIZE, DELIVERY_RETENTION]).toEqual([1_000, 3_600_000])
  // The schedule of the specification, and a week for an outage of the service.
  expect(DELIVERY_LOG_RETENTION).toBeGreaterThan((12 * 3_600 + 36 * 60 + 10 + 7 * 86_400) * 1_000)
  expect(loadConfig(fanoutFields, { ...REQUIRED, DELIVERY_LOG_SIZE: '0' })).toMatchObject({ DELIVERY_LOG_SIZE: 0 })
})
