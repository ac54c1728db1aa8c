import { newEventId, type PlatformEvent } from '@switchhook/contracts'
import type { SingleEvent } from '@switchhook/messaging'
import { FairSemaphore } from './fair-semaphore.ts'
import { createIntake, type Line } from './intake.ts'
import { TenantShares } from './tenant-shares.ts'

/** One event is handled at a time, until `finish` is called. */
function anIntake() {
  const handled: (PlatformEvent & { readonly queue: string })[] = []
  const packed: SingleEvent[] = []
  const finishing: (() => void)[] = []
  const intake = createIntake({
    shares: new TenantShares(),
    direct: new FairSemaphore<Line>(1),
    fromBacklogs: new FairSemaphore<number>(1),
    handle: (event, _publish, queue) => {
      handled.push({ ...event, queue })
      return new Promise((resolve) => finishing.push(() => resolve(1)))
    },
    firstAttempts: { publish: async () => {} },
    yielding: { publish: async () => {} },
    broker: { publishEventPacket: async (events) => void packed.push(...events) },
    areDeliveriesLate: () => false,
    deferred: () => {},
  })
  const receive = (tenant: string, isUnpacked = false) => {
    const eventId = newEventId()
    const event = {
      eventId,
      eventType: 'call.status',
      tenant,
      occurredAt: '2026-11-22T12:00:00.000Z',
      data: {},
      revision: 'r1',
    } as const
    return { eventId, done: intake.take({ queue: 'q', event, content: Buffer.from(eventId), isUnpacked }) }
  }
  return { receive, handled, packed, finish: () => finishing.shift()?.() }
}

test('once a tenant is deferred, its waiting events are packed too; those of others still begin', async () => {
  const { receive, handled, packed, finish } = anIntake()
  const direct = Array.from({ length: 30 }, () => receive('burst'))
  const alone = receive('burst', true)
  const small = receive('small')
  const over = receive('burst')
  await Promise.all([...direct.slice(1), over].map(({ done }) => done))
  const idsPacked = packed.map(({ content }) => content.toString())
  expect(new Set(idsPacked)).toEqual(new Set([...direct.slice(1), over].map(({ eventId }) => eventId)))
  expect(new Set(packed.map(({ revision }) => revision))).toEqual(new Set(['r1']))
  finish()
  await direct[0]?.done
  for (const { done } of [alone, small]) {
    await new Promise(setImmediate)
    finish()
    await done
  }
  const ids = [direct[0], alone, small].map((received) => received?.eventId)
  expect(handled.map(({ eventId, queue }) => [eventId, queue])).toEqual(ids.map((id) => [id, 'q']))
})
