import { createClient } from '@switchhook/client'
import { createReceiver } from './receiver.ts'
import { AGENT, aDelivery, aLeg, asRequest, SECRET } from './testing/deliveries.ts'

const NOON = '2026-11-20T12:00:00.000Z'
const ANSWERS: Readonly<Record<string, object>> = {
  '/api/v1/me': { tenant: 'acme' },
  '/api/v1/voice/calls': {
    items: [
      { ...aLeg(2, 7), occurredAt: NOON },
      { ...aLeg(1, 3, 'call-2'), occurredAt: NOON },
    ],
    nextCursor: null,
  },
  '/api/v1/voice/agents': {
    items: [
      { agentUri: AGENT, statusCode: 2, sequence: 3, occurredAt: NOON, calls: [] },
      { agentUri: 'sip:new@acme.example', statusCode: 2, sequence: 0, occurredAt: null, calls: [] },
    ],
    nextCursor: null,
  },
}

const api = createClient({
  baseUrl: 'http://api.example',
  fetch: async (input) => Response.json(ANSWERS[new URL(input as string).pathname] ?? {}),
})

test('reconcile gives the handlers what is newer, once', async () => {
  const seen: unknown[] = []
  const receiver = createReceiver({
    secrets: SECRET,
    on: {
      'call.status': ({ data, tenant }, ctx) =>
        void seen.push([data.callId, data.state, data.sequence, tenant, ctx.missed, ctx.attempt]),
      'agent.status': ({ data, occurredAt }, ctx) => void seen.push([data.agentUri, occurredAt, ctx.deliveryId]),
    },
    onError: (error) => void seen.push(error),
  })
  await receiver.fetch(asRequest(aDelivery({ data: aLeg(1) })))
  const { calls, agents } = await receiver.reconcile(api)
  expect([calls.length, agents.length]).toEqual([2, 2])
  const expected = [
    ['call-1', 3, 1, 'acme', 0, 1],
    ['call-1', 7, 2, 'acme', 0, 0],
    ['call-2', 3, 1, 'acme', 0, 0],
    [AGENT, NOON, null],
    ['sip:new@acme.example', '1970-01-01T00:00:00.000Z', null],
  ]
  expect(seen).toEqual(expected)

  await receiver.reconcile(api)
  const late = aDelivery({ data: aLeg(2, 7), occurredAt: NOON })
  expect((await receiver.fetch(asRequest(late))).status).toBe(204)
  expect(seen).toEqual(expected)
})

test('reconcile rejects if a handler fails, and begins there when it is called again', async () => {
  let fails = true
  const seen: string[] = []
  const receiver = createReceiver({
    secrets: SECRET,
    on: {
      'call.status': ({ data }) => {
        if (fails && data.callId === 'call-2') throw new Error('the database is full')
        seen.push(data.callId)
      },
    },
    onError: (error) => void seen.push((error as Error).message),
  })
  await expect(receiver.reconcile(api)).rejects.toThrow(/call-2.*The handler failed/)
  fails = false
  await receiver.reconcile(api)
  expect(seen).toEqual(['call-1', 'the database is full', 'call-2'])
})
