import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { temporaryFolder } from '@switchhook/test-servers'
import { anEvent, eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { takeAway } from './faults/inject.ts'
import { createRandom } from './faults/random.ts'
import { type Client, openClient, TENANT } from './load/client.ts'
import { listParked } from './load/recoveries.ts'
import { publishEvent } from './stack/broker-management.ts'
import { type ChaosStack, startChaosStack } from './stack/chaos-stack.ts'

/** Longer than each time of a row. */
const AWAY_MS = 65_000
const SHORT_MS = 30_000
/** Each wait is shorter than an outage, and longer than the preparation of the rows. */
const SETTINGS = {
  DELIVERY_RETRY_WAITS: '30s,30s',
  DELIVERY_TIMEOUT: '10s',
  BREAKER_FAILURES: '100',
  RATE_LIMIT: '999999999/1m',
  RECEIVER_CHECK_TIMEOUT: '21s',
}
const POSTS_OF_A_CHECK = 4
/** One a second, for longer than the preparation of the rows. */
const RECOVERED = 15
const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const PARTS = ['api', 'fanout', 'delivery-worker', 'rabbitmq', 'redis'] as const
type Part = (typeof PARTS)[number]

/** Is called when the outage has begun, or ended. */
type Check = () => Promise<void>
interface Row {
  readonly during?: Check
  readonly after: Check
}

let stack: ChaosStack
let receiver: Receiver
let client: Client
let folder: string
let paths = 0

beforeAll(async () => {
  folder = temporaryFolder('outages-')
  receiver = await startReceiver()
  stack = await startChaosStack(join(folder, 'chaos'), SETTINGS, { api: 1, fanout: 1, 'delivery-worker': 1 })
  client = openClient(stack.apis, stack.devIdp, createRandom(1))
}, 300_000)
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]()
  await receiver?.close()
})

const statusOf = async (...asked: Parameters<Client['insist']>): Promise<number> =>
  (await client.insist(...asked)).status

/** Creates a subscription to a device of its own. */
async function subscribe(change: object = {}) {
  const device = `OUT/${++paths}`
  const path = `/${paths}`
  const isPull = 'mode' in change
  const json = {
    ...(isPull ? {} : { url: receiver.url(path) }),
    eventTypes: ['call.status'],
    filter: { 'call.status': { device: [device] } },
    ...change,
  }
  const { body, status } = await client.insist('POST', SUBSCRIPTIONS, json)
  expect(status).toBe(201)
  const id = String(body['id'])
  return {
    id,
    at: `${SUBSCRIPTIONS}/${id}`,
    path,
    posts: () => receiver.requests(path),
    /** Publishes an event that only this subscription receives. Returns its id. */
    publish: async (): Promise<string> => {
      const event = anEvent({ tenant: TENANT, occurredAt: new Date().toISOString(), data: { device } })
      await eventually(async () => expect(await publishEvent(stack.managementUrl(), event)).toBe(true))
      return event.eventId
    },
    receive: async (leaseSeconds: number) => {
      const { body: received } = await client.insist('POST', `${SUBSCRIPTIONS}/${id}/receive`, {
        leaseSeconds,
        waitSeconds: 5,
      })
      return (received['items'] ?? []) as { deliveryId: string; leaseToken: string; attempt: number }[]
    },
  }
}

const deliveriesOf = (posts: ReturnType<Receiver['requests']>) =>
  new Set(posts.map(({ headers }) => headers['x-svc-delivery']))

const settles = (assertion: Check): Promise<void> => eventually(assertion, { timeoutMs: 60_000, intervalMs: 500 })

/** Each prepares a row of the table "Deadlines and outages" in docs/architecture.md. Undefined: the part has no share in it. */
const ROWS: Readonly<Record<string, (part: Part) => Promise<Row | undefined>>> = {
  deleteAfterUnusedSeconds: async (part) => {
    if (part !== 'api' && part !== 'redis') return undefined
    const pulled = await subscribe({ mode: 'pull', deleteAfterUnusedSeconds: 60 })
    await client.insist('POST', `${pulled.at}/receive`, { waitSeconds: 0 })
    return {
      after: async () => {
        // Its timer is overdue. The api would delete it in the next seconds.
        await sleep(5_000)
        await pulled.publish()
        await settles(async () => expect(await pulled.receive(10)).toHaveLength(1))
      },
    }
  },

  'lease of a received delivery': async (part) => {
    const pulled = await subscribe({ mode: 'pull' })
    await pulled.publish()
    const received: Awaited<ReturnType<typeof pulled.receive>> = []
    await settles(async () => {
      received.push(...(await pulled.receive(60)))
      expect(received).toHaveLength(1)
    })
    const [{ deliveryId, leaseToken } = { deliveryId: '', leaseToken: '' }] = received
    const report = async (): Promise<number> =>
      (await client.request('POST', `${pulled.at}/outcomes`, { items: [{ deliveryId, leaseToken, status: 204 }] }))
        .status
    const state = async () => (await client.insist('GET', `/api/v1/webhooks/deliveries/${deliveryId}`)).body['state']
    const countsReport = part === 'delivery-worker' || part === 'fanout'
    let answer = 0
    return {
      during: async () => void (answer = await report()),
      after: () =>
        settles(async () => {
          // An api that has not noticed yet that RabbitMQ is away has noted the outcome.
          if (countsReport || (part === 'rabbitmq' && answer !== 503)) {
            return expect(await state()).toBe('acknowledged')
          }
          const [again] = await pulled.receive(60)
          expect(again?.deliveryId).toBe(deliveryId)
          expect(again?.attempt).toBeGreaterThan(1)
        }),
    }
  },

  'until of a status': async (part) => {
    const agents = await subscribe({ eventTypes: ['agent.status'], filter: undefined })
    const until = new Date(Date.now() + SHORT_MS).toISOString()
    const agentUri = encodeURIComponent('sip:alice@acme.example')
    const body = { statusCode: '66', until }
    expect(await statusOf('POST', `/api/v1/voice/agents/${agentUri}/presence`, body)).toBeLessThan(300)
    const endsAtMs = Date.now() + AWAY_MS
    const reverted = () =>
      agents
        .posts()
        .map((post) => JSON.parse(post.body.toString()))
        .filter(({ data }) => data.statusCode === 2)
    return {
      after: () =>
        settles(async () => {
          const [event] = reverted()
          expect(
            event?.occurredAt >= (part === 'api' || part === 'redis' ? new Date(endsAtMs).toISOString() : until),
          ).toBe(true)
        }),
    }
  },

  'Idempotency-Key': async () => {
    const tested = await subscribe()
    const request = (key: string) => ['POST', `${tested.at}/test`, {}, { 'idempotency-key': key }] as const
    const answered = async (key: string) => (await client.insist(...request(key))).body['deliveryId']
    const first = await answered('before')
    return {
      during: async () => void (await client.request(...request('during'))),
      after: async () => {
        expect(await answered('before')).toBe(first)
        const second = await answered('during')
        // A request whose answer was lost has run with the same ids.
        await settles(async () => expect(deliveriesOf(tested.posts())).toEqual(new Set([first, second])))
      },
    }
  },

  'wait for the next slot': async () => {
    const failing = await subscribe()
    receiver.answer(failing.path, [{ status: 503 }, {}])
    await failing.publish()
    await settles(async () => expect(failing.posts()).toHaveLength(1))
    return {
      after: () =>
        settles(async () => expect(failing.posts().map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '2'])),
    }
  },

  expireAfterSeconds: async (part) => {
    const expiring = await subscribe({ expireAfterSeconds: 60 })
    receiver.answer(expiring.path, [{ status: 503 }, {}])
    const eventId = await expiring.publish()
    await settles(async () => expect(expiring.posts()).toHaveLength(1))
    const verdict = async () => {
      const { body } = await client.insist('GET', `/api/v1/webhooks/events/${eventId}`)
      const explained = body['subscriptions'] as { subscriptionId: string; verdict: string }[]
      return explained.find(({ subscriptionId }) => subscriptionId === expiring.id)?.verdict
    }
    const goesOn = part === 'api' || part === 'fanout'
    return {
      after: async () => {
        await settles(async () => expect(await verdict()).toBe(goesOn ? 'delivered' : 'expired'))
        expect(expiring.posts()).toHaveLength(goesOn ? 2 : 1)
      },
    }
  },

  pausedUntil: async () => {
    const pausedUntil = Date.now() + SHORT_MS
    const paused = await subscribe()
    await client.insist('PATCH', paused.at, { pausedUntil: new Date(pausedUntil).toISOString() })
    await paused.publish()
    return {
      after: () =>
        settles(async () => {
          expect(paused.posts()).toHaveLength(1)
          expect(paused.posts()[0]?.receivedAt).toBeGreaterThanOrEqual(pausedUntil)
        }),
    }
  },

  'overlap of two secrets': async () => {
    const signed = await subscribe()
    expect(await statusOf('POST', `${signed.at}/rotate-secret`, { overlapSeconds: SHORT_MS / 1_000 })).toBe(200)
    await signed.publish()
    const signatures = () => signed.posts().map(({ headers }) => String(headers['webhook-signature']).split(' ').length)
    await settles(async () => expect(signatures()).toEqual([2]))
    return {
      after: async () => {
        await signed.publish()
        await settles(async () => expect(signatures()).toEqual([2, 1]))
      },
    }
  },

  permits: async () => {
    const limited = await subscribe({ maxInFlight: 1 })
    receiver.answer(limited.path, [{ instead: 'hang' }, {}])
    await limited.publish()
    await settles(async () => expect(limited.posts()).toHaveLength(1))
    return {
      after: async () => {
        await limited.publish()
        await settles(async () => expect(deliveriesOf(limited.posts()).size).toBe(2))
      },
    }
  },

  'a step of a recovery': async () => {
    const rejecting = await subscribe()
    receiver.answer(rejecting.path, { status: 400 })
    for (let n = 0; n < RECOVERED; n++) await rejecting.publish()
    await settles(async () => expect(await listParked(client, rejecting.path, rejecting.id)).toHaveLength(RECOVERED))
    receiver.answer(rejecting.path, {})
    const { body } = await client.insist('POST', `${rejecting.at}/recover`, { maxPerSecond: 1 })
    const counts = async () =>
      (await client.insist('GET', `/api/v1/webhooks/recoveries/${String(body['recoveryId'])}`)).body
    return {
      // It had not ended before the outage.
      during: async () => expect(rejecting.posts().length).toBeLessThan(2 * RECOVERED),
      after: async () => {
        await settles(async () => expect(await counts()).toMatchObject({ state: 'done', sent: RECOVERED }))
        // More, if an outcome could not be stored.
        await settles(async () => expect(rejecting.posts().length).toBeGreaterThanOrEqual(2 * RECOVERED))
      },
    }
  },

  'receiver check': async (part) => {
    const checked = await subscribe()
    const check = async (): Promise<number> => (await client.request('POST', `${checked.at}/check`)).status
    const checks = () => checked.posts().length / POSTS_OF_A_CHECK
    return {
      during: async () => expect((await check()) === 200).toBe(part === 'fanout'),
      after: async () => {
        await settles(async () => expect(await check()).toBe(200))
        // The one of the outage sends nothing late. A suspended api begins it afterwards.
        if (part === 'api') expect([1, 2]).toContain(checks())
        else expect(checks()).toBe(part === 'fanout' ? 2 : 1)
      },
    }
  },
}

test.each(PARTS)(
  'after an outage of %s that is longer than each deadline, every deadline has the end that the table promises',
  async (part) => {
    const prepared = await Promise.all(
      Object.entries(ROWS).map(async ([name, row]) => ({ name, row: await row(part) })),
    )
    const failed: string[] = []
    const run = (step: 'during' | 'after') =>
      Promise.all(
        prepared.map(async ({ name, row }) => {
          await row?.[step]?.().catch((error: unknown) => failed.push(`${name}, ${step} the outage: ${String(error)}`))
        }),
      )
    await Promise.all([takeAway({ stack }, { target: part, forMs: AWAY_MS }), sleep(1_000).then(() => run('during'))])
    await run('after')
    expect(failed).toEqual([])
  },
  400_000,
)
