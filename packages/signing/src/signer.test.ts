import { type Delivery, newSubscriptionId, type Signing, type Trial, withTrial } from '@switchhook/contracts'
import { aDelivery } from '@switchhook/testkit'
import { Webhook } from 'standardwebhooks'
import { createSigner, newWebhookSecret, type Signer, signatureOf, signingKeyOf } from './signer.ts'
import { openVault, subscriptionHeader, subscriptionSecret, type Vault, VaultError } from './vault.ts'

const NOW = Date.parse('2026-11-20T12:00:00.900Z')
const delivery = aDelivery({ firstDueAt: '2026-11-20T12:00:00.000Z', body: Buffer.from('{"a":1}') })
const vault = openVault({ SECRET_KEYS: undefined }, { warn: () => {} })
const secret = newWebhookSecret()
const sealed = vault.seal(secret, subscriptionSecret('acme', delivery.subscriptionId))
const LOST = 'v1.2024.AAAA'

const signedBy = (secret: string, former: Signing['former'] = []): Delivery => ({
  ...delivery,
  signing: { id: '1', secret, since: delivery.firstDueAt, former },
})

let opened: string[]
let said: unknown[]
let signer: Signer

beforeEach(() => {
  opened = []
  said = []
  const counting: Pick<Vault, 'open'> = {
    open: (text, context) => {
      opened.push(text)
      return vault.open(text, context)
    },
  }
  signer = createSigner({ vault: counting, log: { error: (...line) => void said.push(line) }, now: () => NOW })
})

describe('the headers of a subscription', () => {
  const sealedHeader = (name: string, value: string) =>
    vault.seal(value, subscriptionHeader('acme', delivery.subscriptionId, name))
  const withHeaders = (headers: Readonly<Record<string, string>>): Delivery => ({ ...signedBy(sealed), headers })

  test('are opened once, however often they are sent', () => {
    const sent = withHeaders({ authorization: sealedHeader('authorization', 'Bearer 3fQ9') })
    for (let n = 0; n < 3; n++) {
      expect(signer.canSign(sent)).toBe(true)
      expect(signer.ownHeadersOf(sent)).toEqual({ authorization: 'Bearer 3fQ9' })
    }
    expect(opened).toHaveLength(2)
  })

  test('make a delivery wait if one cannot be decrypted, also one of another name or subscription', () => {
    const other = vault.seal('x', subscriptionHeader('acme', newSubscriptionId(), 'x-key'))
    for (const headers of [{ 'x-key': LOST }, { 'x-key': sealedHeader('x-other', 'x') }, { 'x-key': other }]) {
      expect(signer.canSign(withHeaders(headers))).toBe(false)
      expect(() => signer.ownHeadersOf(withHeaders(headers))).toThrow(/must not be sent/)
    }
    expect(JSON.stringify(said)).not.toContain(other)
  })
})

test('a secret is opened once, however often it signs', () => {
  for (let n = 0; n < 3; n++) {
    expect(signer.canSign(signedBy(sealed))).toBe(true)
    expect(signer.headersOf(signedBy(sealed))).toMatchObject({ 'webhook-timestamp': String(Math.floor(NOW / 1_000)) })
  }
  expect(opened).toEqual([sealed])
})

test('a stale trial has a valid signature with an old timestamp', () => {
  const headers = signer.headersOf({ ...signedBy(sealed), trial: 'stale' })
  const timestampSeconds = Number(headers['webhook-timestamp'])
  expect(NOW / 1_000 - timestampSeconds).toBeGreaterThan(3_000)
  const message = { id: delivery.deliveryId, timestampSeconds, body: delivery.body }
  expect(headers['webhook-signature']).toBe(signatureOf([signingKeyOf(secret)], message))
})

test('the Standard Webhooks library accepts events and test deliveries, and rejects forged and stale ones', () => {
  // The library compares timestamps with the clock.
  const current = createSigner({ vault, log: { error: () => {} }, now: Date.now })
  const verify = (trial?: Trial): unknown => {
    const sent = { ...signedBy(sealed), ...(trial !== undefined && { trial }) }
    return new Webhook(secret).verify(sent.body, withTrial(trial, current.headersOf(sent)))
  }
  expect(verify()).toEqual({ a: 1 })
  expect(verify('test')).toEqual({ a: 1 })
  expect(() => verify('forged')).toThrow('No matching signature found')
  expect(() => verify('stale')).toThrow('Message timestamp too old')
})

test('a secret that cannot be decrypted is logged once, without the secret, and its deliveries cannot be signed', () => {
  for (let n = 0; n < 3; n++) expect(signer.canSign(signedBy(LOST))).toBe(false)
  expect(opened).toEqual([LOST])
  expect(said).toEqual([
    [expect.any(String), { tenant: 'acme', subscriptionId: delivery.subscriptionId, error: expect.any(VaultError) }],
  ])
  expect(() => signer.headersOf(signedBy(LOST))).toThrow('must not be sent')
})

test('a former secret that cannot be decrypted is left out; the current one signs', () => {
  const until = new Date(NOW + 1_000).toISOString()
  const headers = signer.headersOf(signedBy(sealed, [{ secret: LOST, until }]))
  expect(headers['webhook-signature']).toBe(signer.headersOf(signedBy(sealed))['webhook-signature'])
  expect(said).toHaveLength(1)
})

test('a secret of another subscription does not sign', () => {
  // With the same object as well as with the same text.
  for (const signed of [signedBy(sealed), signedBy(sealed)]) {
    expect(signer.canSign(signed)).toBe(true)
    expect(signer.canSign({ ...signed, subscriptionId: newSubscriptionId() })).toBe(false)
    expect(signer.canSign({ ...signed, tenant: 'globex' })).toBe(false)
    expect(signer.canSign(signed)).toBe(true)
  }
})

test('the cache of opened secrets is bounded', () => {
  const own = { ...vault, open: (text: string) => (opened.push(text), secret) }
  const busy = createSigner({ vault: own, log: { error: () => {} }, now: () => NOW })
  for (let n = 0; n <= 10_000; n++) busy.canSign(signedBy(`sealed ${n}`))
  busy.canSign(signedBy('sealed 10000'))
  busy.canSign(signedBy('sealed 0'))
  expect(opened).toHaveLength(10_002)
})
