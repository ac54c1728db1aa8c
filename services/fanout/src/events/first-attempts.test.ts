import { type Delivery, Unavailable } from '@switchhook/contracts'
import { deliveryShardOf } from '@switchhook/messaging'
import { aDelivery } from '@switchhook/testkit'
import { createFirstAttempts } from './first-attempts.ts'

function record({
  shards = 1,
  ...change
}: Partial<Parameters<typeof createFirstAttempts>[0]> & { shards?: number } = {}) {
  const singles: Delivery[] = []
  const packets: { readonly shard: number; readonly deliveries: readonly Delivery[] }[] = []
  const broker = {
    publishDelivery: async (delivery: Delivery) => void singles.push(delivery),
    publishPacket: async (packet: readonly Delivery[], shard: number) =>
      void packets.push({ shard, deliveries: packet }),
    ...change,
  }
  const publish = createFirstAttempts(broker, shards)
  const publishAll = async (deliveries: readonly Delivery[]): Promise<readonly string[]> =>
    (await Promise.allSettled(deliveries.map(publish))).map(({ status }) => status)
  return { publishAll, singles, packets }
}

test('the first attempts of one iteration of the event loop share a message', async () => {
  const { publishAll, singles, packets } = record()
  const deliveries = Array.from({ length: 8 }, () => aDelivery())
  await publishAll(deliveries)
  expect([packets, singles]).toEqual([[{ shard: 0, deliveries }], []])
})

test('fewer than eight deliveries of an iteration are messages of their own', async () => {
  const { publishAll, singles, packets } = record()
  const deliveries = Array.from({ length: 14 }, () => aDelivery())
  await publishAll(deliveries.slice(0, 7))
  await publishAll(deliveries.slice(7))
  expect([packets, singles]).toEqual([[], deliveries])
})

test('each shard has its own packets', async () => {
  const { publishAll, singles, packets } = record({ shards: 3 })
  const deliveries = Array.from({ length: 30 }, () => aDelivery())
  await publishAll(deliveries)
  for (const { shard, deliveries: members } of packets) {
    for (const { subscriptionId } of members) expect(deliveryShardOf(subscriptionId, 3)).toBe(shard)
  }
  expect([...packets.flatMap((packet) => packet.deliveries), ...singles]).toHaveLength(30)
})

test.each<[string, number, number, number[]]>([
  ['16 members', 40, 100, [16, 16, 8]],
  ['128 KiB', 18, 13 * 1024, [10, 8]],
])('a packet is closed at %s', async (_limit, count, bytes, sizes) => {
  const { publishAll, packets } = record()
  await publishAll(Array.from({ length: count }, () => aDelivery({ body: Buffer.alloc(bytes, 'x') })))
  expect(packets.map(({ deliveries }) => deliveries.length)).toEqual(sizes)
})

test('of a few deliveries, one that is not stored rejects alone', async () => {
  const deliveries = [aDelivery(), aDelivery(), aDelivery()]
  const { publishAll } = record({
    publishDelivery: async (delivery) => {
      if (delivery === deliveries[1]) throw new Unavailable('rabbitmq', 'away')
    },
  })
  expect(await publishAll(deliveries)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
