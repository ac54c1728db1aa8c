import type { StreamMessage } from '@switchhook/client'
import { plain } from '../output/output.ts'
import { describeMessage } from './events.ts'

const EVENT = { eventId: 'e-1', occurredAt: '2026-11-23T15:00:00.123Z', subscriptions: [], subscriptionCount: 1 }
const event = (eventType: string, data: object | null): StreamMessage =>
  ({ type: 'event', place: '1', event: { ...EVENT, eventType, data } }) as unknown as StreamMessage

const LEG = {
  state: 7,
  endReason: 2,
  agentUri: 'sip:alice@acme.example',
  remoteParty: { number: '+15550101', uri: 'tel:+15550101' },
  callId: 'c-1',
}

test.each<[string, StreamMessage, string]>([
  [
    'the end of a call',
    event('call.status', LEG),
    '15:00:00.123  call.status  ended (busy)  sip:alice@acme.example ↔ +15550101  call c-1  to 1 endpoint  e-1',
  ],
  [
    'a call with another agent',
    event('call.status', { ...LEG, state: 3, endReason: 0, remoteParty: { number: null, uri: 'sip:bob@x' } }),
    '15:00:00.123  call.status  connected  sip:alice@acme.example ↔ sip:bob@x  call c-1  to 1 endpoint  e-1',
  ],
  [
    'an agent',
    event('agent.status', { agentUri: 'sip:a@x', statusCode: 66, deviceStatus: 1 }),
    '15:00:00.123  agent.status  sip:a@x  status 66, device idle  to 1 endpoint  e-1',
  ],
  [
    'a notice about an endpoint',
    event('webhook.endpoint.failing', { url: 'https://x/\u001b[31m' }),
    '15:00:00.123  webhook.endpoint.failing  https://x/ [31m  to 1 endpoint  e-1',
  ],
  ['an event without its data', event('call.status', null), '15:00:00.123  call.status    to 1 endpoint  e-1'],
  [
    'an event of a later server',
    { type: 'other', place: '1', event: { ...EVENT, eventType: 'queue.status', data: { a: 1 } } },
    '15:00:00.123  queue.status    to 1 endpoint  e-1',
  ],
  [
    'an attempt',
    {
      type: 'attempt',
      attempt: {
        deliveryId: 'd-1',
        subscriptionId: 's-1',
        eventId: 'e-1',
        eventType: 'call.status',
        attempt: 2,
        at: '2026-11-23T15:00:01.000Z',
        outcome: 'timeout',
        status: null,
        durationMs: 10_000,
        state: 'waiting',
      },
    },
    '15:00:01.000  call.status  attempt 2: timeout in 10000 ms, waiting  d-1',
  ],
])('%s is a line', (_name, message, line) => expect(describeMessage(message, plain)).toBe(line))
