import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Schemas } from '@switchhook/client'
import { createReceiver } from '@switchhook/receiver'
import { eventually, startReceiver } from '@switchhook/testkit'
import { type Client, type Delivery, openClient, publishEvent } from './client.ts'
import { readStack } from './stack.ts'
import { newUser } from './switchhook.ts'

type Received = Schemas['ReceivedDelivery']

/** No other test of this tenant uses this type. */
const TYPE = 'webhook.endpoint.failing'
const PATIENT = { timeoutMs: 60_000 }
jest.setTimeout(240_000)

let client: Client
let other: Client
const closing: (() => unknown)[] = []

beforeAll(async () => {
  ;[client, other] = await Promise.all([openClient('globex'), openClient('globex', 1)])
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function subscribe(more: Partial<Schemas['NewSubscription']> = {}): Promise<Schemas['CreatedSubscription']> {
  const subscription = await client.api.subscriptions.create({ mode: 'pull', eventTypes: [TYPE], ...more })
  closing.push(() => client.unsubscribe(subscription.id))
  return subscription
}

const publish = (): Promise<string> => publishEvent({ tenant: 'globex', eventType: TYPE })

/** Receives until there are so many. */
async function receive(id: string, count = 1, body: Schemas['Receive'] = {}): Promise<Received[]> {
  const received: Received[] = []
  while (received.length < count) {
    const { items } = await client.api.subscriptions.receive(id, { max: count - received.length, ...body })
    received.push(...items)
  }
  return received
}

const report = async (
  id: string,
  delivery: Received | undefined,
  outcome: object,
): Promise<Schemas['OutcomeResult']> => {
  const { deliveryId = '', leaseToken = '' } = delivery ?? {}
  const { items } = await client.api.subscriptions.report(id, { items: [{ deliveryId, leaseToken, ...outcome }] })
  const [result] = items
  if (result === undefined) throw new Error('no result')
  return result
}

const read = (deliveryId: string | undefined): Promise<Delivery> => client.api.deliveries.read(deliveryId ?? '')

test('a received delivery verifies like a POST, and its outcome acknowledges it', async () => {
  const { id, url, mode, secret } = await subscribe()
  expect([mode, url]).toEqual(['pull', null])
  const marker = await publish()
  const [one] = await receive(id)
  expect(one).toMatchObject({ attempt: 1, body: expect.stringContaining(marker) as string })
  const seen: string[] = []
  const receiver = createReceiver({
    secrets: secret ?? '',
    on: { other: (_event, { deliveryId }) => void seen.push(String(deliveryId)) },
  })
  if (one === undefined) throw new Error('nothing was received')
  const { headers, body } = one
  const answer = await receiver.fetch(new Request('http://127.0.0.1/', { method: 'POST', headers, body }))
  expect([answer.status, seen]).toEqual([204, [one?.deliveryId]])
  expect(await report(id, one, { status: 204, durationMs: 12 })).toEqual({
    deliveryId: one?.deliveryId,
    result: 'done',
    state: 'acknowledged',
    nextAttemptAt: null,
  })
  expect((await read(one?.deliveryId)).attempts).toMatchObject([{ attempt: 1, outcome: 'delivered', durationMs: 12 }])
  // A repeated report changes nothing and shows the state.
  expect(await report(id, one, { status: 500 })).toMatchObject({ result: 'lease-lost', state: 'acknowledged' })
  await receiver.stop()
})

test('the headers have the names and constant values of a POST of the same event', async () => {
  const posted = await startReceiver()
  closing.push(() => posted.close())
  const { id: postId } = await client.subscribe(posted.url('/hook'), [TYPE])
  closing.push(() => client.unsubscribe(postId))
  const { id } = await subscribe()
  await publish()
  const [one] = await receive(id)
  const [request] = await posted.waitFor(1, '/hook')
  const ofPost = Object.entries(request?.headers ?? {}).filter(
    ([name]) => !/^(host|connection|content-length)$/.test(name),
  )
  const ofPull = Object.entries(one?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  expect(ofPull.map(([name]) => name).toSorted()).toEqual(ofPost.map(([name]) => name).toSorted())
  const own = /^(x-svc-delivery|webhook-)/
  expect(Object.fromEntries(ofPull.filter(([name]) => !own.test(name)))).toEqual(
    Object.fromEntries(ofPost.filter(([name]) => !own.test(name))),
  )
  const withoutIds = (text = ''): string => text.replaceAll(/"deliveryId":"[^"]+"/g, '')
  expect(withoutIds(one?.body)).toBe(withoutIds(request?.body.toString()))
})

test('500 follows the schedule, 404 parks, and a redelivery is received again', async () => {
  const { id } = await subscribe()
  await publish()
  const [first] = await receive(id)
  const retried = await report(id, first, { status: 500, answer: 'password: hunter2' })
  expect(retried).toMatchObject({ result: 'done', state: 'held', nextAttemptAt: expect.any(String) as string })
  expect((await read(first?.deliveryId)).attempts[0]?.answer).toBe('password: [redacted]')
  const [second] = await receive(id)
  expect(second).toMatchObject({ deliveryId: first?.deliveryId, attempt: 2, body: first?.body })
  expect(await report(id, second, { status: 404 })).toMatchObject({ state: 'parked', nextAttemptAt: null })
  const explained = await client.api.events.explain((await read(first?.deliveryId)).eventId)
  expect(explained.subscriptions.find(({ subscriptionId }) => subscriptionId === id)).toMatchObject({
    verdict: 'parked',
    url: null,
    attemptCount: 2,
  })
  await client.api.deliveries.redeliver(first?.deliveryId ?? '')
  const [third] = await receive(id)
  expect(third).toMatchObject({ deliveryId: first?.deliveryId, attempt: 3 })
  await report(id, third, { status: 410 })
  const { recoveryId } = await client.api.subscriptions.recover(id, { dryRun: false })
  const [fourth] = await receive(id)
  expect(fourth).toMatchObject({ deliveryId: first?.deliveryId, attempt: 4 })
  await report(id, fourth, { status: 200 })
  await eventually(async () => {
    expect(await client.api.recoveries.read(recoveryId)).toMatchObject({ state: 'done', sent: 1 })
  }, PATIENT)
})

test('a released delivery is due again without an attempt; a lapsed lease counts one', async () => {
  const { id } = await subscribe()
  await publish()
  const [first] = await receive(id)
  expect(await report(id, first, { release: true })).toMatchObject({ result: 'done' })
  const [second] = await receive(id, 1, { leaseSeconds: 10 })
  expect(second).toMatchObject({ deliveryId: first?.deliveryId, attempt: 1 })
  // The first lease is over, so its outcome is refused.
  expect(await report(id, first, { status: 200 })).toMatchObject({ result: 'lease-lost' })
  const [third] = await receive(id)
  expect(third).toMatchObject({ deliveryId: first?.deliveryId, attempt: 2 })
  expect(await report(id, second, { status: 200 })).toMatchObject({ result: 'lease-lost' })
  await report(id, third, { status: 200 })
  expect((await read(first?.deliveryId)).attempts).toMatchObject([
    { attempt: 1, slot: 0, outcome: 'lapsed', status: null },
    { attempt: 2, outcome: 'delivered' },
  ])
})

test('after the answer to a disable or a DELETE no first attempt is handed out, by any api', async () => {
  const { id } = await subscribe()
  const [kept] = [await publish(), await receive(id)]
  for (let n = 0; n < 10; n++) await publish()
  expect(kept).toBeDefined()
  await eventually(async () => {
    expect((await other.api.subscriptions.receive(id, { waitSeconds: 0, max: 1 })).held).toBeGreaterThan(0)
  }, PATIENT)
  const busy = (async () => {
    const times: number[] = []
    for (;;) {
      const { status, body } = await other.request<Schemas['Received']>(
        'POST',
        `/webhooks/subscriptions/${id}/receive`,
        {
          max: 1,
          waitSeconds: 0,
        },
      )
      if (status !== 200) return times
      if (body.items.length > 0) times.push(performance.now())
      await sleep(20)
    }
  })()
  await client.api.subscriptions.change(id, { enabled: false })
  const disabledAtMs = performance.now()
  await sleep(1_500)
  await client.api.subscriptions.delete(id)
  expect((await busy).filter((atMs) => atMs > disabledAtMs)).toEqual([])
})

test('refuses receivers of other subscriptions, and more than four that wait', async () => {
  // Events of the other tests would end the waits.
  const { id } = await subscribe({ eventTypes: ['webhook.parked.limit'] })
  const posted = await client.subscribe('https://client.example/hook', [TYPE])
  closing.push(() => client.unsubscribe(posted.id))
  const path = (of: string): string => `/webhooks/subscriptions/${of}/receive`
  const refused = await client.request('POST', path(posted.id), {})
  expect(refused).toMatchObject({ status: 409, body: { code: 'subscription-not-pull' } })
  expect((await client.request('POST', `/webhooks/subscriptions/${id}/check`, {})).body).toMatchObject({
    code: 'subscription-pull',
  })
  const stranger = await openClient('acme')
  expect((await stranger.request('POST', path(id), {})).status).toBe(404)
  const stop = new AbortController()
  const waiting = Array.from({ length: 4 }, () =>
    client.api.subscriptions.receive(id, { waitSeconds: 25 }, { signal: stop.signal }).catch(() => undefined),
  )
  // Asked rarely, because the question takes a place itself while there is one.
  await eventually(
    async () => {
      const further = await client.request('POST', path(id), { waitSeconds: 0 })
      expect(further).toMatchObject({ status: 429, body: { code: 'too-many-receivers' } })
      expect(further.headers.get('retry-after')).toMatch(/^\d+$/)
    },
    { intervalMs: 500 },
  )
  // A client that goes away frees its place.
  stop.abort()
  await Promise.all(waiting)
  await eventually(async () => expect((await client.request('POST', path(id), { waitSeconds: 0 })).status).toBe(200))
})

test.each([
  [{ mode: 'pull', url: 'https://client.example/' }, '/url'],
  [{}, '/url'],
  [{ url: 'https://client.example/', deleteAfterUnusedSeconds: 60 }, '/deleteAfterUnusedSeconds'],
  [{ mode: 'pull', deleteAfterUnusedSeconds: 59 }, '/deleteAfterUnusedSeconds'],
  [{ mode: 'push' }, '/mode'],
])('the subscription %j is refused at %s', async (body, pointer) => {
  const { status, body: problem } = await client.request<Schemas['Problem']>('POST', '/webhooks/subscriptions', {
    eventTypes: [TYPE],
    ...body,
  })
  expect([status, problem.errors?.map((each) => each.pointer)]).toEqual([400, expect.arrayContaining([pointer])])
})

describe('switchhook listen', () => {
  test('handles everything although it is killed and its target is away, and repeats keep their id', async () => {
    const app = newUser()
    const login = [
      'login',
      readStack().urls.apis[0],
      '--organization',
      'globex',
      '--client-id',
      'globex-app',
      '--secret-stdin',
    ]
    expect(await app.run(login, 'globex-secret\n')).toMatchObject({ code: 0 })
    const seen = new Map<string, string>()
    const ids = new Map<string, Set<string>>()
    const serve = (port: number) =>
      createServer((request, response) => void answer(request, response)).listen(port, '127.0.0.1')
    async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { data } = JSON.parse(await text(request)) as { readonly data: { readonly marker: string } }
      const deliveryId = String(request.headers['x-svc-delivery'])
      ids.set(data.marker, (ids.get(data.marker) ?? new Set()).add(deliveryId))
      seen.set(data.marker, deliveryId)
      response.writeHead(204).end()
    }
    let server = serve(0)
    closing.push(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const name = randomUUID()
    const args = ['listen', '--forward-to', `127.0.0.1:${port}/hook`, '--name', name, '--events', TYPE]
    const listenAgain = () => {
      const running = app.start(args)
      closing.push(() => running.kill('SIGKILL'))
      return running
    }
    let listener = listenAgain()
    await eventually(() => expect(listener.output().stderr).toContain('Receiving'), PATIENT)
    const [{ id } = { id: '' }] = (await client.api.subscriptions.list({ externalId: `listen-${name}` }).page()).items
    closing.push(() => client.unsubscribe(id))
    const markers: string[] = []
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 5; n++) markers.push(await publish())
      listener.kill('SIGKILL')
      markers.push(await publish())
      listener = listenAgain()
    }
    // The handler restarts, too.
    server.close()
    server.closeAllConnections()
    markers.push(await publish())
    await eventually(() => expect(listener.output().stderr).toContain('Nothing listens'), PATIENT)
    server = serve(port)
    await eventually(() => expect(markers.filter((marker) => !seen.has(marker))).toEqual([]), { timeoutMs: 120_000 })
    expect(listener.output().stderr).toContain('listens again')
    expect([...ids.values()].map((each) => each.size)).toEqual(markers.map(() => 1))
  })
})
