import {
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type Trial,
  withTrial,
} from '@switchhook/contracts'
import { newWebhookSecret, openVault, subscriptionSecret } from '@switchhook/signing'
import { Webhook } from 'standardwebhooks'
import { createSigner } from './signer.ts'

const eventId = newEventId()
const subscriptionId = newSubscriptionId()
const vault = openVault({ SECRET_KEYS: undefined }, { warn: () => {} })
const secret = newWebhookSecret()
const signing = {
  id: '1',
  secret: vault.seal(secret, subscriptionSecret('acme', subscriptionId)),
  since: '2026-11-20T12:00:00.000Z',
  former: [],
}
const signer = createSigner({ vault, log: { error: () => {} }, now: Date.now })

function verify(trial: Trial | undefined): unknown {
  const delivery: Delivery = {
    deliveryId: deliveryIdOf(eventId, subscriptionId),
    subscriptionId,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: 'https://client.example/hook',
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: '2026-11-20T12:00:00.000Z',
    signing,
    ...(trial !== undefined && { trial }),
    body: Buffer.from('{"a":1}'),
  }
  return new Webhook(secret).verify(delivery.body, withTrial(trial, signer.headersOf(delivery)))
}

test('an event and a test delivery are signed; a forged and a stale one are refused for what they are', () => {
  expect(verify(undefined)).toEqual({ a: 1 })
  expect(verify('test')).toEqual({ a: 1 })
  expect(() => verify('forged')).toThrow('No matching signature found')
  expect(() => verify('stale')).toThrow('Message timestamp too old')
})
