import { AriUnavailable } from './ari-client.ts'
import { isHeldAtPhone } from './read-calls.ts'

const answering = (status: number, body?: unknown) => ({ request: async () => ({ status, body }) })

test.each<[string, Parameters<typeof isHeldAtPhone>[0], boolean | undefined]>([
  ['it is on hold', answering(200, { value: '1' }), true],
  ['it is not', answering(200, { value: '0' }), false],
  ['it is no SIP phone', answering(404), undefined],
  ['Asterisk gives no answer', { request: () => Promise.reject(new AriUnavailable('timeout')) }, undefined],
  ['Asterisk does not answer in time', { request: () => new Promise(() => {}) }, undefined],
])('whether a phone is on hold: %s', async (_name, ari, isHeld) => {
  expect(await isHeldAtPhone(ari, 'channel')).toBe(isHeld)
})
