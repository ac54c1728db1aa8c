import { type Delivery, deliveryHeaders, parseDelivery, Unavailable } from '@switchhook/contracts'
import type { PackedDelivery, Packet } from '@switchhook/messaging'
import { eventually } from '@switchhook/testkit'
import { aDelivery } from '../testing/deliveries.ts'
import { createPackets, type PacketsDeps } from './packets.ts'

const memberOf = (delivery: Delivery): PackedDelivery => ({
  content: delivery.body,
  headers: deliveryHeaders(delivery),
})
const packetOf = (members: readonly PackedDelivery[], id = 'one'): Packet<PackedDelivery> => ({
  id,
  members,
  returns: 0,
})

/** A worker whose attempts end when the test says so. */
function aWorker(change: Partial<PacketsDeps> = {}) {
  const attempts: { readonly due: Delivery; readonly end: (error?: Error) => void }[] = []
  const alone: PackedDelivery[] = []
  const copies: Delivery[] = []
  const packets = createPackets({
    concurrency: 100,
    patienceMs: 1,
    roomPatienceMs: 1,
    parse: ({ content, headers }) => parseDelivery(content, headers),
    handle: (due) =>
      new Promise((resolve, reject) => {
        attempts.push({ due, end: (error) => (error === undefined ? resolve() : reject(error)) })
      }),
    publishAlone: async (member) => void alone.push(member),
    publishCopy: async (due) => void copies.push(due),
    copyWaitMs: 60_000,
    log: { error: () => {}, warn: () => {} },
    ...change,
  })
  let acknowledged = 0
  const receive = (members: readonly PackedDelivery[], id?: string): Promise<void> => {
    const handled = packets.handle(packetOf(members, id)).then(() => void acknowledged++)
    // The test awaits it later.
    handled.catch(() => {})
    return handled
  }
  const begun = (count: number): Promise<void> => eventually(() => expect(attempts).toHaveLength(count))
  return { packets, receive, attempts, begun, alone, copies, acknowledged: () => acknowledged }
}

const PATIENT = { patienceMs: 60_000, roomPatienceMs: 60_000 }
const away = new Unavailable('redis', 'away')

test('a packet is acknowledged when its last member is done', async () => {
  const { receive, attempts, begun, copies } = aWorker(PATIENT)
  const deliveries = [aDelivery(), aDelivery()]
  const handled = receive(deliveries.map(memberOf))
  await begun(2)
  expect(attempts.map(({ due }) => due)).toEqual(deliveries)
  attempts[0]?.end()
  const first = new Promise((resolve) => setImmediate(() => resolve('waits')))
  expect(await Promise.any([first, handled])).toBe('waits')
  attempts[1]?.end()
  await handled
  expect(copies).toEqual([])
})

test('a member that hangs does not hold its packet: a copy with its identity is stored', async () => {
  const { packets, receive, attempts, begun, copies } = aWorker()
  const [quick, hanging] = [aDelivery(), aDelivery()]
  const handled = receive([quick, hanging].map(memberOf))
  await begun(2)
  attempts[0]?.end()
  await handled
  expect(copies).toContainEqual(hanging)
  attempts[1]?.end()
  await packets.ended()
})

test('without a copy, the packet waits for its member', async () => {
  let refused = 0
  const publishCopy = async (): Promise<void> => {
    refused += 1
    throw new Unavailable('rabbitmq', 'away')
  }
  const { receive, attempts, acknowledged } = aWorker({ publishCopy })
  const handled = receive([memberOf(aDelivery())])
  await eventually(() => expect(refused).toBe(1))
  expect(acknowledged()).toBe(0)
  attempts[0]?.end()
  await handled
})

test('a member whose result cannot be settled after its copy was stored is tried again', async () => {
  const { packets, receive, attempts } = aWorker()
  const delivery = aDelivery()
  await receive([memberOf(delivery)])
  attempts[0]?.end(away)
  await eventually(() => expect(attempts).toHaveLength(2))
  attempts[1]?.end()
  await packets.ended()
  expect(attempts.map(({ due }) => due)).toEqual([delivery, delivery])
})

test('a member that fails while its copy is being stored is tried again here, and not with its packet', async () => {
  let stored = (): void => {}
  let isOnItsWay = false
  const publishCopy = (): Promise<void> => {
    isOnItsWay = true
    return new Promise((resolve) => (stored = resolve))
  }
  const { packets, receive, attempts, begun } = aWorker({ publishCopy })
  const handled = receive([memberOf(aDelivery())])
  await eventually(() => expect(isOnItsWay).toBe(true))
  attempts[0]?.end(away)
  await new Promise(setImmediate)
  stored()
  await handled
  await begun(2)
  attempts[1]?.end()
  await packets.ended()
})

test('if a dependency is away the packet is rejected, and a retry repeats only what is unfinished', async () => {
  const { receive, attempts, begun } = aWorker(PATIENT)
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
  const { receive, attempts, begun, alone } = aWorker(PATIENT)
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

describe('with no room left', () => {
  test('members that hang count, and a member that gets no room in time is published alone', async () => {
    const { packets, receive, attempts, alone, copies } = aWorker({ concurrency: 2 })
    await receive([aDelivery(), aDelivery()].map(memberOf))
    expect(copies).toHaveLength(2)
    const next = memberOf(aDelivery())
    await receive([next], 'two')
    expect([attempts.length, alone]).toEqual([2, [next]])
    for (const { end } of attempts) end()
    await packets.ended()
  })

  test('a member that is tried again after its copy was stored keeps its room', async () => {
    const { packets, receive, attempts, begun, alone } = aWorker({ concurrency: 1 })
    await receive([memberOf(aDelivery())])
    attempts[0]?.end(away)
    await begun(2)
    const [next, last] = [aDelivery(), aDelivery()]
    await receive([memberOf(next)], 'two')
    expect([attempts.length, alone]).toEqual([2, [memberOf(next)]])
    attempts[1]?.end()
    await packets.ended()
    await receive([memberOf(last)], 'three')
    expect(attempts[2]?.due).toEqual(last)
    attempts[2]?.end()
    await packets.ended()
  })

  test('a member begins when another ends', async () => {
    const { receive, attempts, begun } = aWorker({ ...PATIENT, concurrency: 1 })
    const handled = receive([aDelivery(), aDelivery()].map(memberOf))
    await begun(1)
    attempts[0]?.end()
    await begun(2)
    attempts[1]?.end()
    await handled
  })

  test('a member that begins late does not hold its packet either', async () => {
    const { packets, receive, attempts, begun, copies } = aWorker({ roomPatienceMs: 60_000, concurrency: 1 })
    const deliveries = [aDelivery(), aDelivery()]
    const handled = receive(deliveries.map(memberOf))
    await eventually(() => expect(copies).toHaveLength(1))
    attempts[0]?.end()
    await begun(2)
    await handled
    expect(copies).toEqual(deliveries)
    attempts[1]?.end()
    await packets.ended()
  })

  test('a worker that stops finishes what was started, publishes the rest alone and returns nothing', async () => {
    const { packets, receive, attempts, begun, alone, copies } = aWorker({ roomPatienceMs: 60_000, concurrency: 1 })
    const [first, second] = [aDelivery(), aDelivery()]
    const handled = receive([first, second].map(memberOf))
    await begun(1)
    await eventually(() => expect(copies).toEqual([first]))
    packets.stop()
    await handled
    expect([attempts.length, alone]).toEqual([1, [memberOf(second)]])
    attempts[0]?.end()
    await packets.ended()
  })
})

describe('in a worker that stops', () => {
  test('a member that cannot go on is published alone, so that the others are not returned', async () => {
    const { packets, receive, attempts, begun, alone } = aWorker(PATIENT)
    const [done, waiting] = [aDelivery(), aDelivery()]
    const handled = receive([done, waiting].map(memberOf))
    await begun(2)
    packets.stop()
    attempts[0]?.end()
    attempts[1]?.end(new Unavailable('rabbitmq', 'this worker is stopping'))
    await handled
    expect(alone).toEqual([memberOf(waiting)])
  })

  test('a member that cannot be published alone returns with its packet', async () => {
    const publishAlone = (): Promise<void> => Promise.reject(new Unavailable('rabbitmq', 'no confirm'))
    const { packets, receive, attempts, begun } = aWorker({ ...PATIENT, concurrency: 1, publishAlone })
    const handled = receive([aDelivery(), aDelivery()].map(memberOf))
    await begun(1)
    packets.stop()
    attempts[0]?.end()
    await expect(handled).rejects.toThrow('no confirm')
  })
})
