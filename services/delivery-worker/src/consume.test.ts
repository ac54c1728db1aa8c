import { type Delivery, deliveryHeaders, Unavailable } from '@switchhook/contracts'
import type { Consumer, PackedDelivery, Packet } from '@switchhook/messaging'
import { loadConfig } from '@switchhook/runtime'
import { aDelivery, eventually, silentLog } from '@switchhook/testkit'
import { boundsOf } from './bounds.ts'
import { workerFields } from './config.ts'
import { createHandlePacket, type PacketsDeps, startConsuming } from './consume.ts'
import { createStartLimit } from './endpoint/start-limit.ts'
import { Stopping } from './endpoint/stopping.ts'

const memberOf = (delivery: Delivery): PackedDelivery => ({
  content: delivery.body,
  headers: deliveryHeaders(delivery),
})
const packetOf = (members: readonly PackedDelivery[]): Packet<PackedDelivery> => ({ id: 'one', members, returns: 0 })
const away = new Unavailable('redis', 'away')

/** A worker whose attempts end when the test says so. */
function aWorker({ limit = 100, ...change }: Partial<PacketsDeps> & { readonly limit?: number } = {}) {
  const attempts: { readonly due: Delivery; readonly end: (error?: Error) => void }[] = []
  const alone: PackedDelivery[] = []
  const { start, stop } = createStartLimit(limit, { nowMs: () => 0 })
  const handlePacket = createHandlePacket({
    start,
    handle: (due) =>
      new Promise((resolve, reject) => {
        attempts.push({ due, end: (error) => (error === undefined ? resolve() : reject(error)) })
      }),
    publishUnpacked: async (member) => void alone.push(member),
    log: { error: () => {}, warn: () => {} },
    ...change,
  })
  const receive = (members: readonly PackedDelivery[]): Promise<void> => {
    const handled = handlePacket(packetOf(members))
    // The test awaits it later.
    handled.catch(() => {})
    return handled
  }
  const begun = (count: number): Promise<void> => eventually(() => expect(attempts).toHaveLength(count))
  return { receive, attempts, begun, alone, stop }
}

test('a packet is acknowledged when its last member is done', async () => {
  const { receive, attempts, begun } = aWorker()
  const deliveries = [aDelivery(), aDelivery()]
  const handled = receive(deliveries.map(memberOf))
  await begun(2)
  expect(attempts.map(({ due }) => due)).toEqual(deliveries)
  attempts[0]?.end()
  const first = new Promise((resolve) => setImmediate(() => resolve('waits')))
  expect(await Promise.any([first, handled])).toBe('waits')
  attempts[1]?.end()
  await handled
})

test('if a dependency is away the packet is rejected, and a retry repeats only what is unfinished', async () => {
  const { receive, attempts, begun } = aWorker()
  const members = [aDelivery(), aDelivery()].map(memberOf)
  const handled = receive(members)
  await begun(2)
  attempts[0]?.end()
  attempts[1]?.end(away)
  await expect(handled).rejects.toThrow(Unavailable)
  const again = receive(members)
  await begun(3)
  expect(attempts.map(({ due }) => due.deliveryId).slice(2)).toEqual([attempts[1]?.due.deliveryId])
  attempts[2]?.end()
  await again
})

test('a member that cannot be parsed, and one that meets a bug, are published alone; the others go on', async () => {
  const { receive, attempts, begun, alone } = aWorker()
  const broken = { content: Buffer.from('{}'), headers: { 'sh-run': 'first' } }
  const [buggy, good] = [aDelivery(), aDelivery()]
  const handled = receive([broken, memberOf(buggy), memberOf(good)])
  await begun(2)
  expect(attempts.map(({ due }) => due)).toEqual([buggy, good])
  attempts[0]?.end(new TypeError('a bug'))
  attempts[1]?.end()
  await handled
  expect(alone).toEqual([broken, memberOf(buggy)])
})

test('a member that fails lets the next start', async () => {
  const { receive, attempts, begun } = aWorker({ limit: 1 })
  const handled = receive([aDelivery(), aDelivery()].map(memberOf))
  await begun(1)
  attempts[0]?.end(away)
  await begun(2)
  attempts[1]?.end()
  await expect(handled).rejects.toThrow(Unavailable)
})

describe('a worker that stops', () => {
  test('returns a packet of which no member has begun', async () => {
    const { receive, attempts, begun, alone, stop } = aWorker({ limit: 1 })
    const first = receive([memberOf(aDelivery())])
    await begun(1)
    const second = receive([aDelivery(), aDelivery()].map(memberOf))
    stop()
    await expect(second).rejects.toThrow(Unavailable)
    attempts[0]?.end()
    await first
    expect([attempts.length, alone]).toEqual([1, []])
  })

  test('finishes the members that have begun, and publishes the others alone', async () => {
    const { receive, attempts, begun, alone, stop } = aWorker({ limit: 1 })
    const [first, second] = [aDelivery(), aDelivery()]
    const handled = receive([first, second].map(memberOf))
    await begun(1)
    stop()
    await eventually(() => expect(alone).toEqual([memberOf(second)]))
    attempts[0]?.end()
    await handled
    expect(attempts).toHaveLength(1)
  })

  test('publishes a member alone that waits for a turn of its subscription', async () => {
    const { receive, attempts, begun, alone, stop } = aWorker()
    const [done, waiting] = [aDelivery(), aDelivery()]
    const handled = receive([done, waiting].map(memberOf))
    await begun(2)
    stop()
    attempts[0]?.end()
    attempts[1]?.end(new Stopping())
    await handled
    expect(alone).toEqual([memberOf(waiting)])
  })

  test('returns the packet if a member cannot be published alone', async () => {
    const publishUnpacked = (): Promise<void> => Promise.reject(new Unavailable('rabbitmq', 'no confirm'))
    const { receive, attempts, begun, stop } = aWorker({ publishUnpacked })
    const handled = receive([aDelivery(), aDelivery()].map(memberOf))
    await begun(2)
    stop()
    attempts[0]?.end()
    attempts[1]?.end(new Stopping())
    await expect(handled).rejects.toThrow('no confirm')
  })
})

test('what is consumed from a queue has its name in traces, packets of each shard, too', async () => {
  const consumed: string[] = []
  const traced: string[] = []
  await startConsuming({
    bounds: boundsOf(loadConfig(workerFields, { AMQP_URL: 'amqp://127.0.0.1', REDIS_URL: 'redis://127.0.0.1' }), 2),
    broker: { publishUnpackedDelivery: async () => {} },
    consume: async ({ queue }) => {
      consumed.push(queue)
      return { drain: async () => {} } as Consumer
    },
    isolation: { stop: () => {} },
    deliver: async () => {},
    traced: (queue, handle) => {
      traced.push(queue)
      return handle
    },
    log: silentLog,
    shards: 2,
    nowMs: () => 0,
  })
  expect(consumed).toContain('delivery.packets.1')
  expect(traced.toSorted()).toEqual(consumed.toSorted())
})
