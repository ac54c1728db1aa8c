import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { createDeliveryArchive } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'

/** With one probe per cool-down of 1 s, the last slots of these would take 50 s. */
const DELIVERIES = 50

let surroundings: WorkerSurroundings
useWorkerSurroundings((started) => (surroundings = started))

test('a backlog for an endpoint that stays dead is parked within the limit of its last slot, and no message is left in a queue', async () => {
  const { rabbit, redis, receiver } = surroundings
  const broker = await surroundings.openBroker()
  receiver.answer('/dead', { status: 503 })
  const worker = await surroundings.startWorker({
    DELIVERY_RETRY_WAITS: '100ms,1500ms',
    BREAKER_FAILURES: '1',
    BREAKER_COOLDOWN: '1s',
  })
  const subscription = await surroundings.subscribe('/dead')
  const deliveries = Array.from({ length: DELIVERIES }, () => aDeliveryTo(subscription))
  await Promise.all(deliveries.map((delivery) => broker.publishDelivery(delivery)))

  const archive = createDeliveryArchive(redis)
  const records = await eventually(
    async () => {
      const found = await Promise.all(deliveries.map(({ deliveryId }) => archive.find(deliveryId)))
      expect(found.filter((record) => record?.state === 'parked')).toHaveLength(DELIVERIES)
      return found
    },
    { timeoutMs: 30_000, intervalMs: 200 },
  )
  for (const record of records) {
    expect(record).toMatchObject({ parkedReason: 'exhausted', nextAttemptAt: null, body: Buffer.from('{}') })
    expect(record?.attempts).toHaveLength(record?.attempt ?? -1)
  }
  const unattempted = records.find((record) => record?.attempt === 0)
  expect(unattempted).toBeDefined()
  // The worker logs the decision after it has stored the parked record and verified the installation.
  await eventually(() => {
    const lines = worker.lines().filter(({ deliveryId }) => deliveryId === unattempted?.deliveryId)
    expect(lines.find(({ decision }) => decision === 'park')).toMatchObject({
      level: 'info',
      attempt: null,
      outcome: 'cooling',
      status: null,
      decision: 'park',
      reason: 'exhausted',
    })
  })
  await eventually(async () => {
    const left = (await rabbit.management.queues()).filter(({ messages }) => messages > 0)
    expect(left.map(({ name }) => name)).toEqual([])
  })
})
