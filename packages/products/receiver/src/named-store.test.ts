import { createClient } from '@switchhook/client'
import { createReceiver } from './receiver.ts'
import type { Store } from './store.ts'
import { memoryStore } from './stores/memory.ts'
import { AGENT, aDelivery, aLeg, asRequest, SECRET } from './testing/deliveries.ts'

const NOON = '2026-11-20T12:00:00.000Z'
const ANSWERS: Readonly<Record<string, object>> = {
  '/api/v1/me': { tenant: 'acme' },
  '/api/v1/voice/calls': { items: [{ ...aLeg(2), occurredAt: NOON }], nextCursor: null },
  '/api/v1/voice/agents': { items: [], nextCursor: null },
}
const api = createClient({
  baseUrl: 'http://api.example',
  fetch: async (input) => Response.json(ANSWERS[new URL(input as string).pathname] ?? {}),
})

/** A store that notes the keys that it gets. */
function notingStore() {
  const keys: string[] = []
  const kept = memoryStore() as Store<unknown>
  const store: Store<unknown> = {
    once: (id, work) => {
      keys.push(id)
      return kept.once(id, work)
    },
    advance: (tx, subject, position) => {
      keys.push(subject)
      return kept.advance(tx, subject, position)
    },
  }
  return { store, keys }
}

const SUBJECT = `["acme","call.status","call-1","${AGENT}"]`
const KEYS = ['d-1', SUBJECT, `${SUBJECT} ${NOON} 2`, SUBJECT]

test.each<[string, { readonly name?: string }, readonly string[]]>([
  ['no name: as in the versions without names', {}, KEYS],
  ['a name', { name: 'billing' }, KEYS.map((key) => `"billing" ${key}`)],
  ['a name with a quotation mark', { name: 'a" ' }, KEYS.map((key) => `"a\\" " ${key}`)],
])('the keys of deliveries and of what reconcile read: %s', async (_case, named, expected) => {
  const { store, keys } = notingStore()
  const receiver = createReceiver({ ...named, secrets: SECRET, store, on: { 'call.status': () => undefined } })
  await receiver.fetch(asRequest(aDelivery({ id: 'd-1', data: aLeg(1) })))
  await receiver.reconcile(api)
  expect(keys).toEqual(expected)
})

test.each<[string, unknown]>([
  ['an empty one', ''],
  ['null', null],
  ['a number', 7],
])('a receiver is not created with this name: %s', (_case, name) => {
  const create = () => createReceiver({ name: name as string, secrets: SECRET, on: {} })
  expect(create).toThrow(new TypeError('name must be a non-empty string'))
})
