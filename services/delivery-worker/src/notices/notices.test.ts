import {
  compileSchema,
  type Delivery,
  EVENT_CATALOGUE,
  type EventType,
  newSubscriptionId,
  OutcomeNumber,
  PARKED_REASONS,
  ParkedReasonNumber,
  type PlatformEvent,
  type Tenant,
  UNREACHABLE_REASONS,
  Unavailable,
} from '@switchhook/contracts'
import { anAttempt } from '@switchhook/servicekit'
import type { Crossing, DeliveryRecord, Outage } from '@switchhook/store'
import { aDelivery } from '@switchhook/testkit'
import { createNotices, type NoticesDeps } from './notices.ts'

const SINCE_MS = Date.parse('2026-01-01T00:00:00.000Z')
const outage: Outage = {
  sinceMs: SINCE_MS,
  untilMs: SINCE_MS + 30_000,
  failures: 5,
  last: { outcome: 'answered', status: 503 },
}

const lastDelivery = (change: Partial<Delivery> = {}): Delivery =>
  aDelivery({ url: 'https://client.example/hook?token=secret', run: 2, slot: 7, attempt: 8, ...change })

const parkedRecord = (delivery: Delivery): DeliveryRecord => ({
  ...delivery,
  state: 'parked',
  parkedReason: 'exhausted',
  parkedAt: '2026-01-01T12:36:10.000Z',
  nextAttemptAt: null,
  attempts: [anAttempt({ run: 2, slot: 7, attempt: 8, durationMs: 10_000, outcome: 'timeout', status: null })],
})

const withLastOutcome = (record: DeliveryRecord, outcome: (typeof OUTCOMES)[number]): DeliveryRecord => ({
  ...record,
  attempts: record.attempts.map((attempt) => ({ ...attempt, outcome })),
})

/** The dependencies of notices that tests replace. */
interface Change extends Partial<Omit<NoticesDeps, 'matching' | 'archive' | 'broker'>> {
  readonly isWanted?: (tenant: Tenant, eventType: EventType) => Promise<boolean>
  readonly find?: (delivery: Delivery) => Promise<DeliveryRecord | undefined>
  readonly publish?: (event: PlatformEvent) => Promise<void>
}

function aWorld(change: Change = {}, crossings: readonly Omit<Crossing, 'tenant' | 'size'>[] = []) {
  const events: PlatformEvent[] = []
  const steps: string[] = []
  const warnings: object[] = []
  const { isWanted = async () => true, find = async (delivery) => parkedRecord(delivery), ...others } = change
  let parked = aDelivery()
  const publish = async (event: PlatformEvent): Promise<void> => {
    steps.push(event.eventType)
    events.push(event)
  }
  const { noticeParked, ...notices } = createNotices({
    matching: async (tenant, eventType) => ((await isWanted(tenant, eventType)) ? ['a subscription'] : []),
    outages: {
      unreported: async () => outage,
      markReported: async () => void steps.push('marked'),
      recordEnd: async () => ({ ...outage, recoveredAtMs: SINCE_MS + 60_000 }),
    },
    parkedLimitNotices: {
      due: async (tenant) => crossings.map((each) => ({ ...each, tenant, size: 12 })),
      published: async () => void steps.push('marked'),
    },
    heldLimitNotices: {
      due: async (tenant) => crossings.map((each) => ({ ...each, tenant, size: 9 })),
      published: async () => void steps.push('marked'),
    },
    archive: { find: () => find(parked) },
    broker: { publishEvent: change.publish ?? publish },
    published: () => {},
    log: { warn: (_message, fields = {}) => void warnings.push(fields) },
    ...others,
  })
  const parkedNotice = (delivery: Delivery): Promise<void> => {
    parked = delivery
    return noticeParked(delivery)
  }
  return { notices: { ...notices, noticeParked: parkedNotice }, events, steps, warnings }
}

const kinds = ['failing', 'recovered', 'noticeParked'] as const

test.each(kinds)('%s: the notice matches the schema of its type, and hides the query of the url', async (kind) => {
  const { notices, events } = aWorld()
  await notices[kind](lastDelivery())
  const [event] = events
  if (event === undefined) throw new Error('nothing was published')
  const checked = compileSchema(EVENT_CATALOGUE[event.eventType].schema)(event.data)
  expect(checked).toEqual({ ok: true, value: event.data })
  expect(Object.keys(event.data).toSorted()).toEqual(
    (EVENT_CATALOGUE[event.eventType].schema['required'] as string[]).toSorted(),
  )
  expect(event).toMatchObject({ tenant: 'acme', occurredAt: event.data['occurredAt'] })
  expect(event.data['url']).toBe('https://client.example/hook')
})

const OUTCOMES = ['delivered', 'answered', ...UNREACHABLE_REASONS] as const

test.each(OUTCOMES)('the outcome %s has its own number in a notice', async (outcome) => {
  const { notices, events } = aWorld({
    outages: {
      unreported: async () => ({ ...outage, last: { outcome, status: null } }),
      markReported: async () => {},
      recordEnd: async () => undefined,
    },
    find: async (delivery) => withLastOutcome(parkedRecord(delivery), outcome),
  })
  await notices.failing(lastDelivery())
  await notices.noticeParked(lastDelivery())
  const number = OutcomeNumber[outcome]
  expect(number).toBeGreaterThan(0)
  expect(events.map(({ data }) => data['lastOutcome'])).toEqual([number, number])
})

test.each(PARKED_REASONS)('the reason %s is a number in a notice', async (parkedReason) => {
  const { notices, events } = aWorld({ find: async (delivery) => ({ ...parkedRecord(delivery), parkedReason }) })
  await notices.noticeParked(lastDelivery())
  expect(events[0]?.data['parkedReason']).toBe(ParkedReasonNumber[parkedReason])
})

test('a parked delivery without an attempt, or with an outcome of a newer version, has the outcome 0', async () => {
  const newer = 'too-slow' as (typeof OUTCOMES)[number]
  for (const change of [
    (record: DeliveryRecord) => ({ ...record, attempts: [] }),
    (record: DeliveryRecord) => withLastOutcome(record, newer),
  ]) {
    const { notices, events } = aWorld({ find: async (delivery) => change(parkedRecord(delivery)) })
    await notices.noticeParked(lastDelivery())
    expect(events[0]?.data['lastOutcome']).toBe(0)
  }
})

test.each(kinds)('%s: a repeated notice is the same event, byte for byte', async (kind) => {
  const { notices, events } = aWorld()
  const delivery = lastDelivery()
  await notices[kind](delivery)
  await notices[kind](delivery)
  expect(events).toHaveLength(2)
  expect(events[1]).toEqual(events[0])
})

test.each(kinds)(
  '%s: of a delivery of a notice there is no notice, or a dead ops endpoint made them for ever',
  async (kind) => {
    const { notices, events } = aWorld()
    for (const eventType of ['webhook.endpoint.failing', 'webhook.delivery.parked', 'webhook.later']) {
      await notices[kind](lastDelivery({ eventType }))
    }
    expect(events).toEqual([])
  },
)

test.each(kinds)('%s: without a subscription to the notice, nothing is read or published', async (kind) => {
  const asked: unknown[] = []
  const untouched = () => Promise.reject(new Error('was read'))
  const { notices, events, warnings } = aWorld({
    isWanted: async (...question) => {
      asked.push(question)
      return false
    },
    outages: { unreported: untouched, markReported: untouched, recordEnd: untouched },
    find: untouched,
  })
  await notices[kind](lastDelivery())
  expect([asked.length > 0, events, warnings]).toEqual([true, [], []])
})

test('an outage is marked as notified after the broker’s confirm, and not published twice', async () => {
  const { notices, steps } = aWorld()
  await notices.failing(lastDelivery())
  expect(steps).toEqual(['webhook.endpoint.failing', 'marked'])
  const repeated = aWorld({
    outages: { unreported: async () => undefined, markReported: async () => {}, recordEnd: async () => undefined },
  })
  await repeated.notices.failing(lastDelivery())
  await repeated.notices.recovered(lastDelivery())
  expect(repeated.steps).toEqual([])
})

test('an outage whose end is recorded twice is two events, because they say other times', async () => {
  const delivery = lastDelivery()
  const idOf = async (recoveredAtMs: number) => {
    const recordEnd = async () => ({ ...outage, recoveredAtMs })
    const { notices, events } = aWorld({
      outages: { unreported: async () => undefined, markReported: async () => {}, recordEnd },
    })
    await notices.recovered(delivery)
    return events.map(({ eventId }) => eventId)
  }
  expect(await idOf(SINCE_MS + 60_000)).toEqual(await idOf(SINCE_MS + 60_000))
  expect(await idOf(SINCE_MS + 60_000)).not.toEqual(await idOf(SINCE_MS + 70_000))
})

test('a broker that is away does not affect the breaker, and the outage stays unpublished', async () => {
  const publish = () => Promise.reject(new Unavailable('rabbitmq', 'away'))
  const { notices, steps, warnings } = aWorld({ publish })
  await notices.failing(lastDelivery())
  await notices.recovered(lastDelivery())
  expect(steps).toEqual([])
  expect(warnings).toMatchObject([{ notice: 'webhook.endpoint.failing' }, { notice: 'webhook.endpoint.recovered' }])
})

test('a parked trial has no notice', async () => {
  const { notices, events } = aWorld()
  await notices.noticeParked(lastDelivery({ trial: 'test' }))
  expect(events).toEqual([])
})

test('if the notice of a parked delivery cannot be published, the message comes back', async () => {
  const { notices } = aWorld({ publish: () => Promise.reject(new Unavailable('rabbitmq', 'away')) })
  await expect(notices.noticeParked(lastDelivery())).rejects.toThrow(Unavailable)
})

test.each<[string, (delivery: Delivery) => DeliveryRecord | undefined]>([
  ['was acknowledged after all', (delivery) => ({ ...parkedRecord(delivery), state: 'acknowledged' })],
  ['is on its next run', (delivery) => ({ ...parkedRecord(delivery), run: 3 })],
  ['has no record any more', () => undefined],
])('a delivery that %s has no notice', async (_name, find) => {
  const { notices, events } = aWorld({ find: async (delivery) => find(delivery) })
  await notices.noticeParked(lastDelivery())
  expect(events).toEqual([])
})

test('the notice of a delivery that is parked is repeated, and is the same event', async () => {
  const { notices, events } = aWorld()
  await notices.noticeParked(lastDelivery())
  await notices.noticeIfParked(lastDelivery())
  expect(events).toEqual([events[0], events[0]])
})

describe.each([
  ['webhook.parked.limit', { limit: 10, parked: 12 }],
  ['webhook.held.limit', { limit: 10, held: 9 }],
] as const)('%s', (eventType, data) => {
  const crossing = { subscriptionId: newSubscriptionId(), crossedAtMs: SINCE_MS, limit: 10, stored: '' }
  const others: EventType[] = ['webhook.delivery.parked']
  /** Notices of other types are not wanted. */
  function aLimitWorld(change: Change = {}, crossings = [crossing]) {
    const world = aWorld({ isWanted: async (_tenant, type) => !others.includes(type), ...change }, crossings)
    const { noticeParked, noticeHeldLimit } = world.notices
    const notice = (): Promise<void> =>
      eventType === 'webhook.held.limit' ? noticeHeldLimit('acme') : noticeParked(lastDelivery())
    return { ...world, notice }
  }

  test('a crossed limit counts as notified after the broker’s confirm', async () => {
    const { notice, steps, events } = aLimitWorld()
    await notice()
    expect(steps).toEqual([eventType, 'marked'])
    const [event] = events
    expect(compileSchema(EVENT_CATALOGUE[eventType].schema)(event?.data)).toMatchObject({ ok: true })
    expect(event).toMatchObject({ tenant: 'acme', data: { subscriptionId: crossing.subscriptionId, ...data } })
    await notice()
    expect(events[1]).toEqual(event)
  })

  test('a crossed limit stays unpublished without a subscription to the notice, or without the broker’s confirm', async () => {
    const unwanted = aLimitWorld({ isWanted: async () => false })
    await unwanted.notice()
    expect(unwanted.steps).toEqual([])
    const away = aLimitWorld({ publish: () => Promise.reject(new Unavailable('rabbitmq', 'away')) })
    await expect(away.notice()).rejects.toThrow(Unavailable)
    expect(away.steps).toEqual([])
  })

  test('what is asked for while a notice is published shares the next read of the crossings', async () => {
    let reads = 0
    const due = async () => (reads++ === 0 ? [{ ...crossing, tenant: 'acme', size: 12 }] : [])
    const limits = { due, published: async () => {} }
    const { notice, events } = aLimitWorld({ parkedLimitNotices: limits, heldLimitNotices: limits })
    await Promise.all(Array.from({ length: 10 }, notice))
    expect([reads, events.length]).toEqual([2, 1])
  })
})

test('a notice counts as published only after the broker’s confirm', async () => {
  const confirms = [() => Promise.reject(new Error('no confirm')), async () => {}]
  const published: string[] = []
  const { notices } = aWorld({
    publish: async () => confirms.shift()?.(),
    published: ({ eventType }) => void published.push(eventType),
  })
  await expect(notices.noticeParked(lastDelivery())).rejects.toThrow('no confirm')
  expect(published).toEqual([])
  await notices.noticeParked(lastDelivery())
  expect(published).toEqual(['webhook.delivery.parked'])
})
