import { type Delivery, deliveryHeaders, Unavailable } from '@switchhook/contracts'
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

const PATIENCE_MS = 1

/** A worker whose attempts end when the test says so. */
function aWorker(change: Partial<PacketsDeps> = {}) {
  const attempts: { readonly due: Delivery; readonly end: (error?: Error) => void }[] = []
  const alone: PackedDelivery[] = []
  const copies: Delivery[] = []
  const packets = createPackets({
    mostLeft: 100,
    patienceMs: PATIENCE_MS,
    handle: (due, begins) =>
      new Promise((resolve, reject) => {
        begins()
        attempts.push({ due, end: (error) => (error === undefined ? resolve() : reject(error)) })
      }),
    hasResult: () => true,
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

const PATIENT = { patienceMs: 60_000 }
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

test('a member whose POST has not begun holds its packet: it may still move to a lane', async () => {
  const begin: (() => void)[] = []
  const { receive, copies, acknowledged } = aWorker({
    handle: (_due, begins) => {
      begin.push(begins)
      return new Promise(() => {})
    },
  })
  const late = aDelivery()
  const handled = receive([memberOf(late)])
  await eventually(() => expect(begin).toHaveLength(1))
  // Members of another worker, which began later, have left their packets.
  for (let n = 0; n < 3; n++) await aWorker().receive([memberOf(aDelivery())])
  expect([copies, acknowledged()]).toEqual([[], 0])
  begin[0]?.()
  await handled
  expect(copies).toEqual([late])
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

test('a member that fails without a result after its copy was stored is left to the copy', async () => {
  const { packets, receive, attempts } = aWorker({ hasResult: () => false })
  await receive([memberOf(aDelivery())])
  attempts[0]?.end(away)
  await packets.ended()
  expect(attempts).toHaveLength(1)
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

test('members that hang count, and beyond their limit a packet waits for its members', async () => {
  const { packets, receive, attempts, begun, copies, acknowledged } = aWorker({ mostLeft: 1 })
  await receive([memberOf(aDelivery())])
  // A member that is tried again counts, too.
  attempts[0]?.end(away)
  await begun(2)
  const [quick, hanging] = [aDelivery(), aDelivery()]
  const handled = receive([quick, hanging].map(memberOf), 'two')
  await begun(4)
  // Members of another worker, which began later, have left their packets.
  for (let n = 0; n < 3; n++) await aWorker().receive([memberOf(aDelivery())])
  attempts[2]?.end()
  expect([copies.length, acknowledged()]).toEqual([1, 1])
  attempts[3]?.end()
  await handled
  attempts[1]?.end()
  await packets.ended()
  expect(copies).toHaveLength(1)
})

describe('members that give way', () => {
  function givingWay() {
    const begin: (() => void)[] = []
    let ended = 0
    const end = (): void => void ended++
    const giveWay = {
      begin: () => new Promise<() => void>((resolve) => void begin.push(() => resolve(end))),
    }
    return { giveWay, begin, ended: () => ended }
  }

  test('do not use up the patience of their packet, and give up their place when it no longer waits for them', async () => {
    const { giveWay, begin, ended } = givingWay()
    const { packets, receive, attempts, begun, copies, acknowledged } = aWorker({ giveWay })
    const [first, second] = [aDelivery(), aDelivery()]
    const handled = receive([first, second].map(memberOf))
    begin[0]?.()
    await eventually(() => expect(copies).toEqual([first]))
    expect([attempts.length, acknowledged()]).toEqual([1, 0])
    begin[1]?.()
    await begun(2)
    await handled
    expect([copies, ended()]).toEqual([[first, second], 2])
    for (const { end } of attempts) end()
    await packets.ended()
  })

  test('are published alone by a worker that stops, which finishes what has begun and returns nothing', async () => {
    const { giveWay, begin, ended } = givingWay()
    const { packets, receive, attempts, begun, alone } = aWorker({ giveWay })
    const [first, second] = [aDelivery(), aDelivery()]
    const handled = receive([first, second].map(memberOf))
    begin[0]?.()
    await begun(1)
    packets.stop()
    begin[1]?.()
    await handled
    expect([attempts.length, alone]).toEqual([1, [memberOf(second)]])
    attempts[0]?.end()
    await packets.ended()
    expect(ended()).toBe(2)
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
    const { packets, receive, attempts, begun } = aWorker({ ...PATIENT, publishAlone })
    const handled = receive([aDelivery(), aDelivery()].map(memberOf))
    await begun(2)
    packets.stop()
    attempts[0]?.end()
    attempts[1]?.end(new Unavailable('rabbitmq', 'this worker is stopping'))
    await expect(handled).rejects.toThrow('no confirm')
  })
})
