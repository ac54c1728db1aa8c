import { newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { createWaiting, type Waiting } from './waiting.ts'

const [one, two] = [newSubscriptionId(), newSubscriptionId()]
const isOpen = (): boolean => false
const later = (): number => performance.now() + 20_000

let due: Set<SubscriptionId>
let looks: (readonly SubscriptionId[])[]
let waiting: Waiting
beforeEach(() => {
  due = new Set()
  looks = []
  const areDue = async (ids: readonly SubscriptionId[]): Promise<boolean[]> => {
    looks.push(ids)
    if (looks.length === 1) throw new Error('Redis is away')
    return ids.map((id) => due.has(id))
  }
  waiting = createWaiting({ areDue }, { warn: () => {} })
})
afterEach(() => waiting.close())

test('one look serves all requests, and wakes one request of a subscription that has a delivery', async () => {
  const woken: string[] = []
  const waits = [one, one, two].map((id, i) =>
    waiting
      .enter(id, undefined, 'acme')
      .wait(later(), isOpen)
      .then((found) => woken.push(`${i} ${found}`)),
  )
  due.add(one)
  await waits[0]
  expect(woken).toEqual(['0 true'])
  expect(looks).toEqual([
    [one, two],
    [one, two],
  ])
  await waiting.close()
  await Promise.all(waits)
  expect(woken).toEqual(['0 true', '1 false', '2 false'])
  // Nothing waits in a process that ends.
  expect(await waiting.enter(two, undefined, 'acme').wait(later(), isOpen)).toBe(false)
})

test('a wait ends at its time, and when the client is gone, without a delivery', async () => {
  due.add(one)
  expect(await waiting.enter(one, undefined, 'acme').wait(performance.now(), isOpen)).toBe(false)
  expect(await waiting.enter(one, undefined, 'acme').wait(later(), () => true)).toBe(false)
})

test('four requests of a subscription and 200 of a client can wait; leaving frees a place, once', () => {
  const places = [1, 2, 3, 4].map(() => waiting.enter(one, 'a', 'acme'))
  expect(() => waiting.enter(one, 'b', 'acme')).toThrow('At most 4 requests of this subscription')
  places[0]?.leave()
  places[0]?.leave()
  waiting.enter(one, 'b', 'acme')
  expect(() => waiting.enter(one, 'b', 'acme')).toThrow('At most 4')
  for (let n = 3; n < 200; n++) waiting.enter(newSubscriptionId(), 'a', 'acme')
  expect(() => waiting.enter(two, 'a', 'acme')).toThrow('At most 200 requests of this client')
  waiting.enter(two, undefined, 'acme')
  expect(waiting.count()).toBe(4 + 197 + 1)
})

test('1,000 requests of the clients that a tenant invents can wait together; those of another tenant can, too', () => {
  for (let n = 0; n < 1_000; n++) waiting.enter(newSubscriptionId(), `invented ${n % 10}`, 'acme')
  expect(() => waiting.enter(one, 'another', 'acme')).toThrow('At most 1000 requests of this tenant')
  waiting.enter(one, 'crm', 'globex')
  waiting.enter(one, undefined, 'acme')
})
