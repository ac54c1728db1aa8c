import { randomUUID } from 'node:crypto'
import { parseSubscriptionId } from '@switchhook/contracts'
import { logFanOut, loggedEvent } from '@switchhook/servicekit'
import { inChunks, type Redis } from '@switchhook/store'
import { SPECS } from '../describe-api.ts'
import type { ApiUnderTest } from '../testing/api-under-test.ts'
import { useApi } from '../testing/use-api.ts'

let api: ApiUnderTest
let redis: Redis
let headers: { authorization: string }
/** Values of the parameters in the paths. */
const ids = new Map<string, string>()

useApi(['acme'], (world) => {
  ;({ api, redis } = world)
  headers = world.headers.acme
})
beforeAll(async () => {
  const json = { url: 'https://client.example/hooks', eventTypes: ['call.status'] }
  const { body } = await api.call('POST', '/api/v1/webhooks/subscriptions', { headers, json })
  const { id } = body as { id: string }
  const event = loggedEvent({ subscriptionIds: [parseSubscriptionId(id)] })
  await logFanOut(redis, event)
  ids.set('id', id).set('eventId', event.eventId)
})

/** Parameters that choose another list of the same route. */
const CHOICES: Readonly<Record<string, string>> = { state: 'state=any&', live: 'live=true&' }
const lists = SPECS.flatMap(({ path, query = {} }) =>
  'cursor' in query
    ? ['', ...Object.keys(query).flatMap((name) => CHOICES[name] ?? [])].map((more) => `${path}?${more}`)
    : [],
)

/** A forged cursor has the prefix of a list, the form of a place in any list, and a value that no list has. */
const KINDS = ['', 'a', 'd', 'e', 'l', 'r', 't', 'x']
const MAX = '9'.repeat(16)
const PLACES = [
  MAX,
  '9'.repeat(400),
  '-1',
  '\0',
  ' ',
  `${MAX}-${MAX}`,
  `${MAX} 999999999`,
  `${MAX} ${randomUUID()}`,
  `${randomUUID()} 9999`,
  `9999-99-99T99:99:99.999Z ${'-'.repeat(36)}`,
  'to 999999999',
  'others ',
  'others MQ',
  `${randomUUID()} sip:x@acme.example`,
]
const forged = KINDS.flatMap((kind) => PLACES.map((place) => Buffer.from(kind + place).toString('base64url'))).filter(
  Boolean,
)

async function read(path: string, cursor: string) {
  const actual = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids.get(name) ?? name)
  return api.call('GET', `${actual}cursor=${cursor}`, { headers })
}

test('every list is known here', () => expect(lists.length).toBeGreaterThanOrEqual(13))

test.each(lists)('%s answers no forged cursor with 500, and each refusal names the cursor', async (path) => {
  const garbage = await read(path, Buffer.from('~ no place of any list').toString('base64url'))
  const REFUSED = { pointer: '/cursor', detail: 'is not a cursor of this list' }
  expect(garbage).toMatchObject({ status: 400, body: { code: 'invalid-request', errors: [REFUSED] } })
  const refusal = { code: 'invalid-request', errors: [expect.objectContaining({ pointer: '/cursor' })] }
  const check = async (cursor: string): Promise<void> => {
    const { status, body } = await read(path, cursor)
    const text = Buffer.from(cursor, 'base64url').toString()
    if (status !== 200) expect([text, status, body]).toEqual([text, 400, expect.objectContaining(refusal)])
  }
  await inChunks(forged, check, 20)
})
