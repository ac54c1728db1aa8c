import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Schemas } from '@switchhook/client'
import { createReceiver } from '@switchhook/receiver'
import { eventually, type RunningCommand, startReceiver } from '@switchhook/testkit'
import { type Client, type Delivery, openClient, publishEvent, publish as publishRaw } from './client.ts'
import { bringUp, end, readStack } from './stack.ts'
import { newUser, removeUsers, type Switchhook } from './switchhook.ts'

afterAll(removeUsers)

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

async function subscribe(more: Partial<Schemas['SubscriptionInput']> = {}): Promise<Schemas['CreatedSubscription']> {
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
  const { recoveryId } = await client.api.subscriptions.recover(id, {})
  const [fourth] = await receive(id)
  expect(fourth).toMatchObject({ deliveryId: first?.deliveryId, attempt: 4 })
  await report(id, fourth, { status: 200 })
  await eventually(async () => {
    expect(await client.api.recoveries.read(recoveryId)).toMatchObject({ state: 'done', sent: 1 })
  }, PATIENT)
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

/** Publishes an event of an agent in a state, as another platform does. Resolves to its id. */
async function happen(agentUri: string, state: number): Promise<string> {
  const [eventId, eventType, occurredAt] = [randomUUID(), 'call.status', new Date().toISOString()]
  const data = { agentUri, state }
  await publishRaw(eventType, JSON.stringify({ eventId, eventType, occurredAt, tenant: 'globex', data }))
  return eventId
}

/** A pull subscription to the calls of one agent, and what makes an event of that agent happen. */
async function subscribeToAgent(more: Partial<Schemas['SubscriptionInput']> = {}) {
  const agentUri = `sip:${randomUUID()}@globex.example`
  const filter = { 'call.status': { agentUri: [agentUri] } }
  const { id } = await subscribe({ eventTypes: ['call.status'], filter, ...more })
  return { id, happen: () => happen(agentUri, 3) }
}

async function releasedAndLapsed(): Promise<void> {
  const { id, happen } = await subscribeToAgent()
  await happen()
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
}

async function lapsedAfterDelete(): Promise<void> {
  const { id, happen } = await subscribeToAgent()
  await happen()
  const [received] = await receive(id, 1, { leaseSeconds: 10 })
  await client.api.subscriptions.delete(id)
  await eventually(
    async () =>
      expect(await read(received?.deliveryId)).toMatchObject({
        state: 'parked',
        attempts: [{ attempt: 1, outcome: 'lapsed', status: null }],
      }),
    PATIENT,
  )
}

async function expiredWhileHeld(): Promise<void> {
  // Notices never expire.
  const { id, happen } = await subscribeToAgent({ expireAfterSeconds: 10 })
  const atMs = Date.now()
  await Promise.all(Array.from({ length: 25 }, happen))
  const held = async () => (await client.api.subscriptions.read(id)).held
  await eventually(async () => expect(await held()).toMatchObject({ count: 25 }), PATIENT)
  await eventually(() => expect(Date.now()).toBeGreaterThan(atMs + 12_000), PATIENT)
  const eventId = await happen()
  const { items } = await client.api.subscriptions.receive(id, { max: 1, waitSeconds: 5 })
  expect(items.map(({ headers }) => headers['X-SVC-Event-Id'])).toEqual([eventId])
  await report(id, items[0], { status: 204 })
  // Each of the others is expired before what leased it would lapse, and none was attempted.
  await eventually(async () => expect(await held()).toMatchObject({ count: 0 }), { timeoutMs: 20_000 })
  await eventually(async () => {
    const { items: all } = await client.api.subscriptions.deliveries(id, { state: 'any', limit: 100 }).page()
    const states = Map.groupBy(all, ({ state, attempts }) => `${state} ${attempts.length}`)
    expect([...states].map(([state, { length }]) => `${state} ${length}`).toSorted()).toEqual([
      'acknowledged 1 1',
      'expired 0 25',
    ])
  }, PATIENT)
}

// The shortest lease and the shortest expiry take ten seconds each.
test('a lapsed lease counts one attempt, also after a DELETE; what expires keeps no client from what is behind it', async () => {
  await Promise.all([releasedAndLapsed(), lapsedAfterDelete(), expiredWhileHeld()])
})

describe('switchhook listen', () => {
  let app: Switchhook
  beforeAll(async () => {
    app = newUser()
    const address = readStack().urls.apis[0]
    const login = ['login', address, '--organization', 'globex', '--client-id', 'globex-app', '--secret-stdin']
    expect(await app.run(login, 'globex-secret\n')).toMatchObject({ code: 0 })
  })

  /** A handler on this machine, and the requests that it got, in the order of arrival. */
  async function startHandler() {
    const requests: { readonly headers: IncomingHttpHeaders; readonly data: Readonly<Record<string, unknown>> }[] = []
    async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { data } = JSON.parse(await text(request)) as { readonly data: Readonly<Record<string, unknown>> }
      requests.push({ headers: request.headers, data })
      response.writeHead(204).end()
    }
    const serve = async (port: number): Promise<Server> => {
      const server = createServer((request, response) => void answer(request, response))
      await once(server.listen(port, '127.0.0.1'), 'listening')
      return server
    }
    let server = await serve(0)
    const { port } = server.address() as AddressInfo
    const stop = (): void => {
      server.close()
      server.closeAllConnections()
    }
    closing.push(stop)
    return {
      address: `127.0.0.1:${port}/hook`,
      requests,
      markers: () => requests.map(({ data }) => String(data['marker'])),
      stop,
      start: async () => void (server = await serve(port)),
    }
  }

  /** Resolves once it receives. */
  async function startListener(args: readonly string[]): Promise<RunningCommand> {
    const running = app.start(['listen', ...args])
    closing.push(() => running.kill('SIGKILL'))
    await eventually(() => expect(running.output().stderr).toContain('Receiving'), PATIENT)
    return running
  }

  async function idOf(name: string): Promise<string> {
    const [{ id } = { id: '' }] = (await client.api.subscriptions.list({ externalId: `listen-${name}` }).page()).items
    closing.push(() => client.unsubscribe(id))
    return id
  }

  test('handles everything although it, api, worker and Redis are killed, and repeats keep their id', async () => {
    const handler = await startHandler()
    const name = randomUUID()
    const args = ['--forward-to', handler.address, '--name', name, '--events', TYPE]
    let listener = await startListener(args)
    await idOf(name)
    closing.push(bringUp)
    const markers: string[] = []
    for (const killed of [
      ['delivery-worker-1', 'api-1'],
      ['redis', 'fanout-1', 'delivery-worker-2'],
    ]) {
      for (let n = 0; n < 5; n++) markers.push(await publish())
      await Promise.all(killed.map((name) => end(name, 'SIGKILL')))
      markers.push(await publish())
      await bringUp()
      listener.kill('SIGKILL')
      markers.push(await publish())
      listener = await startListener(args)
    }
    await eventually(() => expect(new Set(handler.markers())).toEqual(new Set(markers)), { timeoutMs: 120_000 })
    const ids = Map.groupBy(handler.requests, ({ data }) => String(data['marker']))
    for (const [, same] of ids) expect(new Set(same.map(({ headers }) => headers['x-svc-delivery'])).size).toBe(1)
  })

  test('while nothing listens at the address no attempt is counted, and the backlog comes in its order', async () => {
    const handler = await startHandler()
    const name = randomUUID()
    const args = ['--forward-to', handler.address, '--name', name, '--events', TYPE]
    const listener = await startListener(args)
    const id = await idOf(name)
    const holds = (count: number) =>
      eventually(async () => expect((await client.api.subscriptions.read(id)).held).toMatchObject({ count }), PATIENT)
    handler.stop()
    const refused = await publish()
    await eventually(() => expect(listener.output().stderr).toContain('Nothing listens'), PATIENT)
    await handler.start()
    await eventually(() => expect(handler.markers()).toEqual([refused]), PATIENT)
    await eventually(() => expect(listener.output().stderr).toContain('listens again'), PATIENT)
    expect(handler.requests[0]?.headers['x-svc-attempt']).toBe('1')
    // Its outcome was reported.
    await holds(0)
    listener.kill('SIGKILL')
    await listener.ended

    const backlog: string[] = []
    for (let n = 1; n <= 25; n++) {
      backlog.push(await publish())
      // One after the other, so that each is held later than the one before.
      await holds(n)
    }
    const again = await startListener(args)
    await eventually(() => expect(handler.markers()).toHaveLength(26), PATIENT)
    expect(again.output().stderr).toMatch(/^25 deliveries waiting, since .+; the oldest come first\.$/m)
    // Ten are handled at the same time, so a delivery overtakes nine at most.
    const places = handler
      .markers()
      .slice(1)
      .map((marker) => backlog.indexOf(marker))
    expect(places.toSorted((a, b) => a - b)).toEqual(backlog.map((_, n) => n))
    expect(Math.max(...places.map((place, n) => place - n))).toBeLessThan(10)
  })

  test('--filter receives what it passes, stays with the name, and another one is refused', async () => {
    const handler = await startHandler()
    const name = randomUUID()
    const agentUri = `sip:${name}@globex.example`
    const statesAt = (): number[] => handler.requests.map(({ data }) => Number(data['state'])).toSorted((a, b) => a - b)
    const args = ['--forward-to', handler.address, '--name', name]
    const filter = JSON.stringify({ 'call.status': { agentUri: [agentUri], state: [3, 7] } })
    const listener = await startListener([...args, '--events', 'call.status', '--filter', filter])
    await idOf(name)
    for (const state of [2, 3]) await happen(agentUri, state)
    await happen(`sip:other-${name}@globex.example`, 7)
    await happen(agentUri, 7)
    await eventually(() => expect(statesAt()).toEqual([3, 7]), PATIENT)
    // Some events of a call are left out, which a receiver must know.
    for (const { headers } of handler.requests) expect(headers['x-svc-sparse']).toBe('true')
    listener.kill('SIGKILL')

    const other = await app.run(['listen', ...args, '--filter', '{"call.status": {"state": [7]}}'])
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('choose another --name') as string })
    const unknown = await app.run([
      'listen',
      ...args,
      '--name',
      randomUUID(),
      '--filter',
      '{"call.status": {"x": [1]}}',
    ])
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('x') as string })
    await happen(agentUri, 2)
    await happen(agentUri, 3)
    const again = await startListener(args)
    expect(again.output().stderr).toContain(`filtered by ${filter}`)
    await eventually(() => expect(statesAt()).toEqual([3, 3, 7]), PATIENT)
  })
})
