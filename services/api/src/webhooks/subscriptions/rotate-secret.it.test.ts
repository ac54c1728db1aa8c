import { parseSubscriptionId, type Subscription } from '@switchhook/contracts'
import { type Surroundings, startSurroundings } from '@switchhook/servicekit'
import { createVault, openVault, secretKeys, subscriptionSecret, type Vault } from '@switchhook/signing'
import { createIdempotencyStore, createSubscriptionStore, openRedis, type Redis } from '@switchhook/store'
import { silentLog, startTcpProxy, type TcpProxy, unverified } from '@switchhook/testkit'
import { createAnswerOnce, IDEMPOTENCY_TIMING } from '../../http/idempotency.ts'
import { bind } from '../../http/route.ts'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'
import { rotateSubscriptionSecret } from './rotate-route.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const NEW_KEY = `new:${Buffer.alloc(32, 2).toString('base64')}`
const OLD_KEY = `old:${Buffer.alloc(32, 1).toString('base64')}`

interface Shown {
  readonly id: string
  readonly secret: string
  readonly signing: {
    readonly state: string
    readonly since: string | null
    readonly previousValidUntil: string | null
  }
}

interface Rotated {
  readonly secret: string
  readonly previousValidUntil: string | null
}

let around: Surroundings<'acme' | 'globex'>
let redis: Redis
/** Records the traffic between the api and Redis. */
let wire: TcpProxy
let passed = ''
let api: ApiUnderTest
let acme: { authorization: string }
let globex: { authorization: string }
let keys = 0

const start = (SECRET_KEYS: string, REDIS_URL = around.env.REDIS_URL): Promise<ApiUnderTest> =>
  startApiUnderTest({ ...around.env, REDIS_URL, SECRET_KEYS, SIGNATURE_OVERLAP: '1h' })

beforeAll(async () => {
  around = await startSurroundings('acme', 'globex')
  redis = await openRedis({ url: [around.redis.redisUrl], log: silentLog, name: 'test' })
  wire = await startTcpProxy(around.redis.redisUrl)
  wire.alter((chunk) => {
    passed += chunk.toString('latin1')
    return chunk
  })
  api = await start(OLD_KEY, wire.url)
  acme = around.bearer('acme', { azp: 'crm' })
  globex = around.bearer('globex')
})

afterAll(async () => {
  await api.close()
  await Promise.all([wire.close(), redis.close()])
  await around.close()
})

const newKey = (): { 'idempotency-key': string } => ({ 'idempotency-key': `key ${++keys}` })

async function create(headers: Readonly<Record<string, string>> = {}, to = api): Promise<Shown> {
  const json = { url: 'https://client.example/hook', eventTypes: ['call.status'] }
  const { status, body } = await to.call('POST', PATH, { headers: { ...acme, ...headers }, json })
  expect(status).toBe(201)
  return body as Shown
}

async function rotate(id: string, json?: object, headers: object = {}, to = api): Promise<Rotated> {
  const request = { headers: { ...acme, ...headers }, ...(json !== undefined && { json }) }
  const { status, body } = await to.call('POST', `${PATH}/${id}/rotate-secret`, request)
  expect(status).toBe(200)
  return body as Rotated
}

const read = async (id: string): Promise<Shown> =>
  (await api.call('GET', `${PATH}/${id}`, { headers: acme })).body as Shown

async function stored(id: string): Promise<Subscription> {
  const found = await createSubscriptionStore(redis, unverified, {}).find('acme', parseSubscriptionId(id))
  if (found === undefined) throw new Error(`${id} is not stored`)
  return found
}

/** The secrets that a worker with these keys would sign with now. */
async function signsWith(id: string, vault: Vault): Promise<string[]> {
  const { signing } = await stored(id)
  const sealed = signing === undefined ? [] : [signing.secret, ...signing.former.map(({ secret }) => secret)]
  return sealed.map((text) => vault.open(text, subscriptionSecret('acme', id)))
}

const vaultOf = (raw: string): Vault => createVault(secretKeys().parse(raw))

test('the answer shows the secret that signs', async () => {
  const { id, secret } = await create()
  expect(await signsWith(id, vaultOf(OLD_KEY))).toEqual([secret])
})

test('a secret is shown once: reading, listing and changing do not show it', async () => {
  const { id, secret } = await create()
  const shown = [
    await api.call('GET', `${PATH}/${id}`, { headers: acme }),
    await api.call('GET', PATH, { headers: acme }),
    await api.call('PATCH', `${PATH}/${id}`, { headers: acme, json: { enabled: false } }),
  ]
  const sealed = (await stored(id)).signing?.secret ?? 'none'
  for (const { status, body } of shown) {
    expect(status).toBe(200)
    expect(JSON.stringify(body)).toContain(id)
    for (const text of [secret, sealed, 'whsec_']) expect(JSON.stringify(body)).not.toContain(text)
  }
  expect(await signsWith(id, vaultOf(OLD_KEY))).toEqual([secret])
})

test('a PATCH cannot set the secret', async () => {
  const { id, secret } = await create()
  const patch = (json: object) => api.call('PATCH', `${PATH}/${id}`, { headers: acme, json })
  expect((await patch({ secret: 'whsec_mine', description: 'changed' })).status).toBe(400)
  expect((await patch({ signing: { secret: 'mine' }, description: 'changed' })).status).toBe(200)
  expect(await signsWith(id, vaultOf(OLD_KEY))).toEqual([secret])
})

test('no secret reaches Redis or the log in clear, not even in a stored answer', async () => {
  const key = newKey()
  const first = await create(key)
  const rotationKey = newKey()
  const rotated = await rotate(first.id, {}, rotationKey)
  // Both answers are stored, and replayed unchanged.
  expect(await create(key)).toEqual(first)
  expect(await rotate(first.id, {}, rotationKey)).toEqual(rotated)

  const visible = passed + JSON.stringify(api.log)
  expect(passed).toContain(first.id)
  for (const secret of [first.secret, rotated.secret]) {
    const bytes = Buffer.from(secret.slice(6), 'base64')
    for (const text of [secret.slice(6), bytes.toString('latin1'), bytes.toString('hex')]) {
      expect(visible.includes(text)).toBe(false)
    }
  }
})

describe('rotate-secret', () => {
  test('answers a new secret; the previous one keeps signing for the overlap of the installation', async () => {
    const { id, secret, signing } = await create()
    expect(signing).toEqual({ state: 'signed', since: expect.any(String), previousValidUntil: null })
    const before = Date.now()
    const rotated = await rotate(id)
    expect(rotated.secret).not.toBe(secret)
    expect(await signsWith(id, vaultOf(OLD_KEY))).toEqual([rotated.secret, secret])
    const untilMs = Date.parse(rotated.previousValidUntil ?? '')
    expect(untilMs).toBeGreaterThanOrEqual(before + 3_600_000)
    expect(untilMs).toBeLessThanOrEqual(Date.now() + 3_600_000)
    const { previousValidUntil } = rotated
    expect((await read(id)).signing).toEqual({ state: 'signed', since: expect.any(String), previousValidUntil })
    expect(Date.parse((await read(id)).signing.since ?? '')).toBeGreaterThanOrEqual(before)
  })

  test('the request can set the overlap', async () => {
    const { id } = await create()
    const { previousValidUntil } = await rotate(id, { overlapSeconds: 60 })
    expect(Date.parse(previousValidUntil ?? '') - Date.now()).toBeLessThanOrEqual(60_000)
  })

  test('without an overlap only the new secret signs, even if previous ones had time left', async () => {
    const { id } = await create()
    await rotate(id)
    const { secret, previousValidUntil } = await rotate(id, { overlapSeconds: 0 })
    expect(previousValidUntil).toBeNull()
    expect(await signsWith(id, vaultOf(OLD_KEY))).toEqual([secret])
  })

  test('a subscription without a secret is unsigned until its first rotation', async () => {
    const { id } = await create()
    const { signing: _, ...unsigned } = await stored(id)
    const store = createSubscriptionStore(redis, unverified, {})
    await store.remove('acme', unsigned.id)
    await store.create(unsigned)
    expect((await read(id)).signing).toEqual({ state: 'unsigned', since: null, previousValidUntil: null })
    const { secret, previousValidUntil } = await rotate(id)
    expect(previousValidUntil).toBeNull()
    expect(await signsWith(id, vaultOf(OLD_KEY))).toEqual([secret])
    expect((await read(id)).signing.state).toBe('signed')
  })

  test('the fifth rotation within the overlap is rejected, because it would drop a secret that receivers may rely on', async () => {
    const { id } = await create()
    for (let n = 0; n < 4; n++) await rotate(id)
    const { status, body } = await api.call('POST', `${PATH}/${id}/rotate-secret`, { headers: acme })
    expect(status).toBe(409)
    expect(body).toMatchObject({ code: 'too-many-secrets', detail: expect.stringContaining('overlapSeconds 0') })
    expect(await signsWith(id, vaultOf(OLD_KEY))).toHaveLength(5)
    await rotate(id, { overlapSeconds: 0 })
  })

  test('a misspelt field is rejected, because it would keep a leaked secret valid', async () => {
    const { id, secret } = await create()
    const json = { overlap_seconds: 0 }
    const { status, body } = await api.call('POST', `${PATH}/${id}/rotate-secret`, { headers: acme, json })
    expect(status).toBe(400)
    const detail = 'The body is not valid. Allowed fields: overlapSeconds.'
    expect(body).toMatchObject({ code: 'invalid-request', detail, errors: [{ pointer: '/overlap_seconds' }] })
    expect(await signsWith(id, vaultOf(OLD_KEY))).toEqual([secret])
  })

  test.each([{ overlapSeconds: -1 }, { overlapSeconds: 604_801 }, { overlapSeconds: 1.5 }, { overlapSeconds: '1' }])(
    '%j is rejected, and nothing is rotated',
    async (json) => {
      const { id, secret } = await create()
      const { status, body } = await api.call('POST', `${PATH}/${id}/rotate-secret`, { headers: acme, json })
      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 'invalid-request', errors: [{ pointer: '/overlapSeconds' }] })
      expect(await signsWith(id, vaultOf(OLD_KEY))).toEqual([secret])
    },
  )

  test('a body, if sent, must be JSON', async () => {
    const { id } = await create()
    const post = (body: string, type: string) =>
      api.call('POST', `${PATH}/${id}/rotate-secret`, { headers: { ...acme, 'content-type': type }, body })
    expect((await post('overlapSeconds=0', 'application/x-www-form-urlencoded')).status).toBe(415)
    expect((await post('{', 'application/json')).status).toBe(400)
  })

  test.each([
    ['an unknown id', async () => 'b6e0b5a2-2d3c-4d9d-8d34-0f0f7d0f5a11'],
    ['a malformed id', async () => 'hello'],
    ['another tenant’s subscription', async () => (await create()).id],
  ])('%s answers 404', async (_name, idOf) => {
    const id = await idOf()
    const { status, body } = await api.call('POST', `${PATH}/${id}/rotate-secret`, { headers: globex })
    expect(status).toBe(404)
    expect(body).toMatchObject({ code: 'subscription-not-found' })
  })

  test('concurrent rotations all count: every answered secret signs', async () => {
    const { id, secret } = await create()
    const rotated = await Promise.all([rotate(id), rotate(id), rotate(id)])
    const expected = [secret, ...rotated.map((one) => one.secret)]
    expect((await signsWith(id, vaultOf(OLD_KEY))).toSorted()).toEqual(expected.toSorted())
  })

  test('repeated after its process died unanswered, it answers the same secret', async () => {
    const { id, secret } = await create()
    const idempotency = createIdempotencyStore(redis, { ...IDEMPOTENCY_TIMING, leaseMs: 1 })
    const vault = openVault({ SECRET_KEYS: secretKeys().parse(OLD_KEY) }, silentLog)
    const route = bind(rotateSubscriptionSecret, {
      subscriptions: createSubscriptionStore(redis, unverified, {}),
      vault,
      config: { SIGNATURE_OVERLAP: 3_600_000 },
      now: Date.now,
    })
    const caller = {
      tenant: 'acme',
      issuer: around.idps.acme.issuer,
      clientId: 'crm',
      subject: 'test-client',
      role: 'admin',
    } as const
    const key = newKey()
    const target = { key: key['idempotency-key'], method: 'POST', path: `${PATH}/${id}/rotate-secret` }
    const request = {
      caller,
      params: { id },
      query: {},
      body: {},
      requestId: '1',
      idFor: () => '',
      isKeyed: true,
      isClosed: () => false,
    }
    const unread = await new Promise((resolve, reject) => {
      const dying = { ...idempotency, finish: () => new Promise<never>(() => {}) }
      const answering = createAnswerOnce(
        dying,
        0,
        vault,
        silentLog,
      )(target, request, async (again) => {
        const answer = await route.handle({ ...again, body: {} })
        resolve(answer.confidential?.['secret'])
        return answer
      })
      answering.catch(reject)
    })
    const rotated = await rotate(id, {}, key)
    expect(rotated.secret).toBe(unread)
    expect(await signsWith(id, vaultOf(OLD_KEY))).toEqual([rotated.secret, secret])
  })
})

describe('when the encryption key of the installation is rotated', () => {
  test('secrets sealed with the old key are replayed and keep signing; new secrets are sealed with the new key', async () => {
    const key = newKey()
    const created = await create(key)
    const other = await start(`${NEW_KEY},${OLD_KEY}`)
    try {
      expect(await create(key, other)).toEqual(created)
      const { secret } = await rotate(created.id, {}, {}, other)
      expect((await stored(created.id)).signing?.secret).toMatch(/^v1\.new\./)
      expect(await signsWith(created.id, vaultOf(`${NEW_KEY},${OLD_KEY}`))).toEqual([secret, created.secret])
    } finally {
      await other.close()
    }
  })

  test('a starting api reseals everything with the new key, and the old key is no longer needed', async () => {
    const created = await create()
    const rotated = await rotate(created.id)
    const other = await start(`${NEW_KEY},${OLD_KEY}`)
    await other.close()
    expect(await signsWith(created.id, vaultOf(NEW_KEY))).toEqual([rotated.secret, created.secret])
    const line = other.log.find(({ message }) => message === 'resealed webhook secrets with the first key')
    expect(line?.fields).toMatchObject({ lost: 0 })
    const before = await stored(created.id)
    await (await start(`${NEW_KEY},${OLD_KEY}`)).close()
    expect(await stored(created.id)).toEqual(before)
  })

  test('without the old key it still starts, and logs each subscription that needs a new secret', async () => {
    await around.redis.flush()
    const { id } = await create()
    const other = await start(NEW_KEY)
    await other.close()
    const errors = other.log.filter(({ level }) => level === 'error')
    expect(errors.map(({ fields }) => fields['subscriptionId'])).toEqual([id])
    expect(await signsWith(id, vaultOf(OLD_KEY))).toHaveLength(1)
  })

  test('without the old key a subscription can still be given a new secret', async () => {
    const created = await create()
    const other = await start(NEW_KEY)
    try {
      const { secret } = await rotate(created.id, { overlapSeconds: 0 }, {}, other)
      expect(await signsWith(created.id, vaultOf(NEW_KEY))).toEqual([secret])
    } finally {
      await other.close()
    }
  })
})
