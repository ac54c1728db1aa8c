import type { Signing, Subscription } from '@switchhook/contracts'
import { aSubscription } from '@switchhook/testkit'
import { parseSubscription, subscriptionToText } from './stored-subscription.ts'

const signing: Signing = { id: 'a', secret: 'v1.key.text', since: '2026-11-20T12:00:00.000Z', former: [] }
const GUARDED = ['description'] as const

/** What a version reads that does not know guarded settings. */
const readByEarlierVersion = (text: string): Subscription => JSON.parse(text) as Subscription

test.each<[string, Subscription]>([
  ['signed', { ...aSubscription(), signing }],
  ['unsigned', aSubscription()],
])('a %s subscription is read as it was written, with guarded settings and without', (_name, subscription) => {
  expect(parseSubscription(subscriptionToText(subscription, GUARDED))).toEqual(subscription)
  expect(parseSubscription(subscriptionToText(subscription, []))).toEqual(subscription)
})

test('an earlier version finds no secret that it can open if a setting is guarded, and the usual one if none is', () => {
  const subscription = { ...aSubscription(), signing }
  expect(readByEarlierVersion(subscriptionToText(subscription, GUARDED)).signing?.secret).toMatch(/newer-version/)
  expect(readByEarlierVersion(subscriptionToText(subscription, [])).signing).toEqual(signing)
})

test('a secret that an earlier version has rotated is the secret', () => {
  const rotated = { ...signing, id: 'b', secret: 'v1.key.other' }
  const stored = readByEarlierVersion(subscriptionToText({ ...aSubscription(), signing }, GUARDED))
  expect(parseSubscription(JSON.stringify({ ...stored, signing: rotated })).signing).toEqual(rotated)
})

test.each<Partial<Subscription>>([
  { mode: 'pull' },
  { paused: true },
  { pausedUntil: '2026-11-20T12:00:00.000Z' },
  { filter: { 'call.status': { state: [7] } } },
  { expireAfterSeconds: 60 },
  { headers: { authorization: 'v1.key.text' } },
  { maxInFlight: 1 },
  { maxPerSecond: 1 },
])('workers of earlier versions send nothing of a subscription with %j', (setting) => {
  const subscription = { ...aSubscription(), ...setting, signing }
  const text = subscriptionToText(subscription)
  expect(readByEarlierVersion(text).signing?.secret).toMatch(/newer-version/)
  expect(parseSubscription(text)).toEqual(subscription)
})
