import { CallState } from '@switchhook/client'
import { eventually, type ReceivedRequest, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient } from './client.ts'

const ALICE = 'sip:e2e-0@acme.example'
const BUSY_CALLER = 'sip:e2e-1@acme.example'
const IMPATIENT = 'sip:e2e-2@acme.example'
const LOST = 'sip:e2e-3@acme.example'
const CAROL = 'sip:e2e-0@globex.example'

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

let acme: Client
let otherReplica: Client
let globex: Client
let receiver: Receiver

beforeAll(async () => {
  ;[acme, otherReplica, globex, receiver] = await Promise.all([
    openClient('acme'),
    openClient('acme', 1),
    openClient('globex'),
    startReceiver(),
  ])
})

afterAll(() => receiver.close())

/** Waits for `count` deliveries of one call at one path and returns them in order of their sequence. */
async function followed(path: string, callId: string, count: number): Promise<readonly ReceivedRequest[]> {
  const ofCall = (): ReceivedRequest[] =>
    receiver.requests(path).filter((request) => envelopeOf(request).data['callId'] === callId)
  for (let seen = 0; ofCall().length < count; seen++) await receiver.waitFor(seen + 1, path)
  return ofCall().toSorted((a, b) => Number(envelopeOf(a).data['sequence']) - Number(envelopeOf(b).data['sequence']))
}

const field = (requests: readonly ReceivedRequest[], name: string): unknown[] =>
  requests.map((request) => envelopeOf(request).data[name])

test('a client subscribes, dials and hangs up, and receives every state of the call as specified', async () => {
  const subscription = await acme.subscribe(receiver.url('/journey'))
  const callId = await acme.dial(ALICE, '+15550100', { cli: '+15550199', correlationId: 'crm-4711' })
  await followed('/journey', callId, 3)
  await otherReplica.api.calls.hangup(callId, { agentUri: ALICE })

  const requests = await followed('/journey', callId, 4)
  expect(field(requests, 'state')).toEqual([1, 8, 3, 7])
  expect(field(requests, 'previousState')).toEqual([0, 1, 8, 3])
  expect(field(requests, 'sequence')).toEqual([1, 2, 3, 4])
  expect(field(requests, 'correlationId')).toEqual(Array(4).fill('crm-4711'))
  expect(field(requests, 'cli')).toEqual(Array(4).fill('+15550199'))
  expect(envelopeOf(requests[3]).data).toMatchObject({ endReason: 1, endedBy: 1, agentUri: ALICE })

  for (const request of requests) {
    const envelope = envelopeOf(request)
    expect(Object.keys(envelope)).toEqual(['deliveryId', 'eventType', 'occurredAt', 'tenant', 'data'])
    expect(request).toMatchObject({
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'x-svc-event': 'call.status',
        'x-svc-event-id': expect.stringMatching(GUID),
        'x-svc-delivery': envelope.deliveryId,
        'x-svc-attempt': '1',
      },
    })
    expect(envelope).toMatchObject({
      eventType: 'call.status',
      tenant: 'acme',
      occurredAt: envelope.data['occurredAt'],
    })
    expect(envelope.occurredAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
  expect(new Set(requests.map((request) => envelopeOf(request).deliveryId)).size).toBe(4)

  // The events can be found by the header of a received webhook, or by the call.
  const eventIds = requests.map(({ headers }) => headers['x-svc-event-id'])
  await eventually(async () => {
    const { items } = await otherReplica.api.events.list({ callId }).page()
    expect(new Set(items.map(({ eventId }) => eventId))).toEqual(new Set(eventIds))
    expect(items).toMatchObject(eventIds.map(() => ({ agentUri: ALICE, correlationId: 'crm-4711' })))
  })
  const { subscriptions } = await otherReplica.api.events.explain(String(eventIds[0]))
  expect(subscriptions).toContainEqual(expect.objectContaining({ subscriptionId: subscription.id }))
  await acme.api.subscriptions.delete(subscription.id)
})

test.each([
  ['+15550101', BUSY_CALLER, [1, 7], 2],
  ['+15550103', LOST, [1, 7], 3],
])('a call to %s ends with the documented reason', async (destination, agentUri, states, endReason) => {
  const { id } = await acme.subscribe(receiver.url(`/fails/${endReason}`))
  const callId = await acme.dial(agentUri, destination)
  const requests = await followed(`/fails/${endReason}`, callId, states.length)
  expect(field(requests, 'state')).toEqual(states)
  expect(field(requests, 'endReason')).toEqual([0, endReason])
  await acme.api.subscriptions.delete(id)
})

test('a call that is hung up immediately still reports its beginning and exactly one end', async () => {
  const { id } = await acme.subscribe(receiver.url('/at-once'))
  const callId = await acme.dial(IMPATIENT, '+15550102')
  const accepted = await otherReplica.api.calls.hangup(callId, { agentUri: IMPATIENT })
  expect(accepted).toMatchObject({ callId, command: 'hangup', noop: false })
  const requests = await followed('/at-once', callId, 2)
  expect(field(requests, 'state').at(-1)).toBe(7)
  expect(field(requests, 'endReason').at(-1)).toBe(5)

  expect(await acme.api.calls.hangup(callId, { agentUri: IMPATIENT })).toMatchObject({ noop: true })
  await acme.api.subscriptions.delete(id)
})

test('each subscription gets its own delivery, and no other tenant gets one', async () => {
  const subscriptions = await Promise.all(['/one', '/two'].map((path) => acme.subscribe(receiver.url(path))))
  const presence = await acme.subscribe(receiver.url('/presence'), ['agent.status'])
  const foreign = await globex.subscribe(receiver.url('/foreign'), ['call.status', 'agent.status'])

  const callId = await acme.dial(LOST, '+15550101')
  const [one, two] = await Promise.all(['/one', '/two'].map((path) => followed(path, callId, 2)))
  const ids = [...(one ?? []), ...(two ?? [])].map((request) => envelopeOf(request).deliveryId)
  expect(new Set(ids).size).toBe(4)

  // The events of globex's own call prove that its endpoint was listening.
  const foreignCall = await globex.dial(CAROL, '+15550101')
  await followed('/foreign', foreignCall, 2)
  const foreignAgents = new Set(field(receiver.requests('/foreign'), 'agentUri'))
  expect([...foreignAgents].filter((agentUri) => !String(agentUri).endsWith('@globex.example'))).toEqual([])
  const types = receiver.requests('/presence').map(({ headers }) => headers['x-svc-event'])
  expect(types.filter((type) => type !== 'agent.status')).toEqual([])

  await globex.api.subscriptions.delete(foreign.id)
  for (const { id } of [...subscriptions, presence]) await acme.api.subscriptions.delete(id)
})

test('a change at one api replica is visible at the other', async () => {
  const { id } = await acme.subscribe(receiver.url('/replicas'))
  expect((await otherReplica.api.subscriptions.read(id)).url).toBe(receiver.url('/replicas'))
  await otherReplica.api.subscriptions.delete(id)
  await expect(acme.api.subscriptions.read(id)).rejects.toMatchObject({ code: 'subscription-not-found' })
})

test('the live stream shows the events of a call with their data, from a time on', async () => {
  const since = new Date()
  const callId = await acme.dial(IMPATIENT, '+15550101')
  const states: (number | undefined)[] = []
  for await (const message of otherReplica.api.events.stream({ callId }, { since })) {
    if (message.type !== 'event' || message.event.eventType !== 'call.status') continue
    states.push(message.event.data?.state)
    if (states.at(-1) === CallState.ended) break
  }
  expect(states).toEqual([CallState.initiated, CallState.ended])
})

describe('impossible commands', () => {
  test.each<[string, string, object, number, string]>([
    ['a dial without a destination', '/voice/calls/dial', { agentUri: ALICE }, 400, 'invalid-request'],
    [
      'a dial for an unknown agent',
      '/voice/calls/dial',
      { agentUri: 'sip:x@acme.example', destination: '1' },
      404,
      'agent-not-found',
    ],
    ['a dial for another tenant', '/voice/calls/dial', { agentUri: CAROL, destination: '1' }, 404, 'agent-not-found'],
    [
      'hanging up a call that is not',
      '/voice/calls/5f0c1f5e-2c55-4f0a-8f6b-6f1d3f2a9b10/hangup',
      { agentUri: ALICE },
      404,
      'call-not-found',
    ],
    ['a hangup with an invalid call id', '/voice/calls/4711/hangup', { agentUri: ALICE }, 404, 'call-not-found'],
  ])('%s', async (_name, path, body, status, code) => {
    const reply = await acme.request<{ code: string }>('POST', path, body)
    expect(reply).toMatchObject({ status, body: { code, status } })
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  })

  test('an agent in a call cannot dial a second call', async () => {
    const callId = await acme.dial(ALICE, '+15550102')
    await expect(otherReplica.dial(ALICE, '+15550100')).rejects.toMatchObject({ code: 'agent-device-unavailable' })
    await acme.api.calls.hangup(callId, { agentUri: ALICE })
  })

  test('a call of another agent or another tenant is not found', async () => {
    const callId = await acme.dial(BUSY_CALLER, '+15550102')
    const unknown = { code: 'call-not-found' }
    await expect(acme.api.calls.hangup(callId, { agentUri: LOST })).rejects.toMatchObject(unknown)
    await expect(globex.api.calls.hangup(callId, { agentUri: CAROL })).rejects.toMatchObject(unknown)
    await acme.api.calls.hangup(callId, { agentUri: BUSY_CALLER })
  })
})
