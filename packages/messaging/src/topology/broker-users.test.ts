import { BROKER_USERS, declaredBy } from './broker-users.ts'
import { backlogQueues, laneQueues, Queue, serviceTopology } from './topology.ts'

/** Every queue that any service declares. */
const whole = serviceTopology([10_000], {
  deliveryShards: 3,
  eventShards: 3,
  others: [...backlogQueues, ...laneQueues(2)],
})
const queuesOf = (service: string): readonly string[] => Object.keys(declaredBy(service, whole).queues)

test('fan-out and the workers together declare every queue, and share only the quarantine', () => {
  const [ofFanout, ofWorkers] = [queuesOf('fanout'), queuesOf('delivery-worker')]
  expect([...new Set([...ofFanout, ...ofWorkers])].toSorted()).toEqual(Object.keys(whole.queues).toSorted())
  expect(ofFanout.filter((name) => ofWorkers.includes(name))).toEqual([Queue.quarantine])
  // Fan-out is upgraded before the api, so it must not wait for a queue that only a newer api declares.
  expect(queuesOf('api')).toEqual([])
})

test.each(['api', 'fanout', 'delivery-worker'] as const)(
  '%s expects the queues that it does not declare, binds only its own, and may do what declaring takes',
  (service) => {
    const { queues, expected = [], bindings } = declaredBy(service, whole)
    expect([...Object.keys(queues), ...expected].toSorted()).toEqual(Object.keys(whole.queues).toSorted())
    for (const { to } of bindings) expect(Object.keys(queues)).toContain(to)
    const [mayWrite, mayRead] = [BROKER_USERS[service].write, BROKER_USERS[service].read].map(
      (text) => new RegExp(text),
    )
    // From RabbitMQ 4.2.6 on, looking at a queue takes some permission on it.
    for (const name of expected) expect([name, mayWrite?.test(name)]).toEqual([name, true])
    for (const [name, { 'x-dead-letter-exchange': deadLetters }] of Object.entries(queues)) {
      expect([name, mayWrite?.test(name)]).toEqual([name, true])
      // RabbitMQ: creating a queue with a dead-letter exchange takes `read` on the queue.
      expect([name, mayRead?.test(name)]).toEqual([name, deadLetters !== undefined])
    }
  },
)

test('a service without a user cannot declare only its own queues', () => {
  expect(() => declaredBy('dev-idp', whole)).toThrow('dev-idp has no user')
})
