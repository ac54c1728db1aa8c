import { newEventId } from '@switchhook/contracts'
import type { DeliveryRecord } from '@switchhook/store'
import { viewOf } from './delivery-schema.ts'
import { explainDeliveries } from './explain-deliveries.ts'

const never = (): never => {
  throw new Error('must not be called')
}

/** JavaScript would write 1795866740123456800, 1, 0 and 1e+23. */
const DATA = '{"big":1795866740123456789,"list":[1.0,-0],"far":{"exponent":1.0E23}}'

test('the data of an explained event has every digit', async () => {
  const entry = { eventType: 'call.status', occurredAt: '', fannedOutAt: '', subscriptionIds: [], subscriptionCount: 0 }
  const explained = await explainDeliveries(
    {
      subscriptions: {
        ids: async function* () {},
        findAll: async () => new Map(),
        page: async () => ({ items: [], nextCursor: null }),
      },
      deliveries: { find: never },
      deliveryLog: { records: async () => [] },
      journal: {
        find: async () => ({ ...entry, dataJson: DATA }) as never,
        recent: async () => () => false,
        recipients: async () => [],
      },
      healthOf: never,
      now: Date.now,
    },
    'acme',
    newEventId(),
    { limit: 10 },
  )
  expect(JSON.stringify(explained?.data)).toBe(DATA)
})

test('the envelope of a delivery has every digit', () => {
  const record = { attempts: [], body: Buffer.from(`{"deliveryId":"x","data":${DATA}}`) }
  expect(JSON.stringify(viewOf(record as unknown as DeliveryRecord).envelope)).toContain(DATA)
})
