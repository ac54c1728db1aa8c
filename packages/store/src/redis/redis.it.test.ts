import { setTimeout as delay } from 'node:timers/promises'
import { deliveryIdOf, isNotExecuted, newEventId, newSubscriptionId, Unavailable } from '@switchhook/contracts'
import { answerWithin } from '@switchhook/runtime'
import {
  collect,
  eventually,
  stall,
  startTcpProxy,
  type TcpProxy,
  type TestRedis,
  testRedis,
  UNLIMITED,
  unscheduled,
  unverified,
} from '@switchhook/testkit'
import { createDeliveryStore } from '../deliveries/delivery-store.ts'
import { createMatching } from '../subscriptions/matching.ts'
import { createSubscriptionStore } from '../subscriptions/subscription-store.ts'
import { connectTo } from './client.ts'
import { execute, openRedis, type Redis, RedisRefusal } from './redis.ts'

/** Waiting for a reply or a connection would take three seconds. */
const SOON_MS = 2_000

interface Line {
  readonly level: string
  readonly message: string
  readonly text: string
}

let server: TestRedis
let proxy: TcpProxy
let lines: Line[]
const opened: Redis[] = []

const record = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
  const error = fields?.['error']
  lines.push({ level, message, text: `${JSON.stringify(fields)} ${error instanceof Error ? error.message : ''}` })
}
const log = { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') }
const messages = () => lines.map(({ level, message }) => `${level} ${message}`)

async function open(url = proxy.url): Promise<Redis> {
  const redis = await openRedis({ url, log, name: 'test' })
  opened.push(redis)
  return redis
}

const isReady = (redis: Redis) => eventually(() => expect(redis.isReady()).toBe(true))
const get = (redis: Redis) => redis[execute]((commands) => commands.get('sh:test'))
const set = (redis: Redis, value: string) => redis[execute]((commands) => commands.set('sh:test', value))

const isUnavailable = (waiting: Promise<unknown>, ms = SOON_MS): Promise<void> =>
  expect(answerWithin(ms, waiting, 'late')).rejects.toThrow(Unavailable)

beforeAll(async () => {
  server = await testRedis()
})
beforeEach(async () => {
  lines = []
  proxy = await startTcpProxy(server.redisUrl)
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((redis) => redis.close()))
  await proxy.close()
})
afterAll(() => server.close())

test('openRedis waits for a Redis that is not up yet, and logs one warning', async () => {
  proxy.refuse()
  const opening = open()
  await eventually(() => expect(messages()).toEqual(['warn waiting for Redis']))
  await delay(300)
  proxy.accept()
  const redis = await opening
  expect(redis.isReady()).toBe(true)
  expect(messages()).toEqual(['warn waiting for Redis', 'info reconnected to Redis'])
})

test('a database that does not exist is waited for, and database 0 is not used in its place', async () => {
  const url = new URL(proxy.url)
  url.pathname = '/9999'
  const client = connectTo(url.href, { name: 'test' })
  const events: string[] = []
  client.on('ready', () => events.push('ready'))
  client.on('error', ({ message }: Error) => events.push(message))
  await eventually(() => expect(proxy.accepted()).toBeGreaterThan(2))
  expect(events).toContain('ERR DB index is out of range')
  expect(events).not.toContain('ready')
  client.disconnect()
})

test('without Redis everything rejects immediately with Unavailable, and works again once reconnected to Redis', async () => {
  const redis = await open()
  const [subscriptions, matching] = [createSubscriptionStore(redis, unverified, {}), createMatching(redis, unverified)]
  const retention = { finishedRetentionMs: 1, parkedRetentionMs: 1, scheduleOf: unscheduled }
  const deliveries = createDeliveryStore(redis, retention, UNLIMITED, unverified)
  const deliveryId = deliveryIdOf(newEventId(), newSubscriptionId())
  await matching('acme', 'call.status')
  proxy.refuse()
  await eventually(() => expect(redis.isReady()).toBe(false))
  await isUnavailable(matching('acme', 'call.status'))
  await isUnavailable(collect(subscriptions.all('acme')))
  await isUnavailable(deliveries.isSettled({ deliveryId, run: 1, slot: 0, attempt: 0 }))
  proxy.accept()
  await redis.ready()
  expect(await matching('acme', 'call.status')).toEqual([])
  expect(await deliveries.isSettled({ deliveryId, run: 1, slot: 0, attempt: 0 })).toBe(false)
  expect(messages()).toEqual(['warn waiting for Redis', 'info reconnected to Redis'])
})

test('a command in flight when the connection breaks is rejected, not sent again', async () => {
  const redis = await open()
  await set(redis, '0')
  proxy.cutWhen((chunk, direction) => direction === 'toClient' && chunk.length > 0)
  await isUnavailable(redis[execute]((commands) => commands.incr('sh:test')))
  await redis.ready()
  // Redis had executed it; only the reply was lost.
  expect(await get(redis)).toBe('1')
})

test('a Redis that does not answer is given up on within seconds, and found again', async () => {
  const redis = await open()
  proxy.freeze()
  await Promise.all([isUnavailable(get(redis), 4_000), isUnavailable(get(redis), 4_000)])
  // The connection is dropped too. TCP would keep it open for about 15 minutes.
  await eventually(() => expect(redis.isReady()).toBe(false), { timeoutMs: 10_000 })
  proxy.thaw()
  await redis.ready()
  await expect(set(redis, 'again')).resolves.toBe('OK')
}, 30_000)

test('replies that arrived while the process stalled are taken', async () => {
  const redis = await open(server.redisUrl)
  const replies = [set(redis, 'stalled'), get(redis)]
  await new Promise(setImmediate)
  // Longer than a caller waits for a reply.
  stall(3_500)
  expect(await Promise.all(replies)).toEqual(['OK', 'stalled'])
})

/** Uses a separate Redis user, because all tests share the server's settings. */
async function withUser(name: string, rules: readonly string[], action: (url: string, admin: Redis) => Promise<void>) {
  const admin = await open(server.redisUrl)
  const url = new URL(proxy.url)
  url.username = name
  url.password = 'secret'
  await admin[execute]((commands) => commands.acl('SETUSER', name, 'on', '>secret', '~*', ...rules))
  try {
    await action(url.href, admin)
  } finally {
    await admin[execute]((commands) => commands.acl('DELUSER', name))
  }
}

test('a connection is ready only when Redis accepts writes', () =>
  withUser('test-reader', ['+@all'], async (url, admin) => {
    const redis = await open(url)
    await admin[execute]((commands) => commands.acl('SETUSER', 'test-reader', '-set'))
    await expect(set(redis, 'x')).rejects.toMatchObject({ name: 'Unavailable', fate: 'not-executed' })
    const states: string[] = []
    const ready = redis.ready().then(() => states.push('ready'))
    await eventually(() => expect(messages()).toContain('warn waiting for Redis'))
    await delay(100)
    expect(states).toEqual([])
    await admin[execute]((commands) => commands.acl('SETUSER', 'test-reader', '+set'))
    await ready
    expect(lines.find(({ level }) => level === 'warn')?.text).toContain('NOPERM')
  }))

test('durabilitySettings reads the settings of the connected Redis', async () => {
  const redis = await open()
  const [, appendFsync] = (await redis[execute]((commands) => commands.config('GET', 'appendfsync'))) as unknown[]
  expect(await redis.durabilitySettings()).toEqual([{ appendOnly: 'yes', appendFsync, evictionPolicy: 'noeviction' }])
})

test('a Redis that refuses CONFIG, as managed ones do, shows only its eviction policy', () =>
  withUser('test-managed', ['+@all', '-config'], async (url) => {
    const redis = await open(url)
    expect(await redis.durabilitySettings()).toEqual([
      { appendOnly: undefined, appendFsync: undefined, evictionPolicy: 'noeviction' },
    ])
  }))

test('without Redis, durabilitySettings rejects instead of finding hidden settings', async () => {
  const redis = await open()
  proxy.refuse()
  await eventually(() => expect(redis.isReady()).toBe(false))
  await isUnavailable(redis.durabilitySettings())
})

test('ready resolves for all callers that wait', async () => {
  const redis = await open()
  proxy.refuse()
  await eventually(() => expect(redis.isReady()).toBe(false))
  const waiting = Array.from({ length: 50 }, () => redis.ready())
  proxy.accept()
  await Promise.all(waiting)
  expect(messages()).toEqual(['warn waiting for Redis', 'info reconnected to Redis'])
})

test('once closed, ready and commands reject, and no warning is logged', async () => {
  const redis = await open()
  await redis.close()
  await expect(redis.ready()).rejects.toThrow(Unavailable)
  await expect(get(redis)).rejects.toThrow(Unavailable)
  await redis.close()
  expect(redis.isReady()).toBe(false)
  expect(messages()).toEqual([])
})

test('a demoted primary is left, and the address is connected again', async () => {
  const redis = await open()
  const before = proxy.accepted()
  // The reply of a replica to a write.
  const refusal = "return redis.error_reply('READONLY You can\\'t write against a read only replica.')"
  await isUnavailable(redis[execute]((commands) => commands.eval(refusal, 0)))
  await eventually(() => expect(proxy.accepted()).toBe(before + 1))
  await redis.ready()
})

test('closing ends the wait for a Redis that is down', async () => {
  const redis = await open()
  proxy.refuse()
  await eventually(() => expect(redis.isReady()).toBe(false))
  const waiting = redis.ready()
  await redis.close()
  await expect(waiting).rejects.toThrow(Unavailable)
})

test('closing does not hang on a Redis that does not answer', async () => {
  const redis = await open()
  proxy.freeze()
  await redis.close()
  expect(redis.isReady()).toBe(false)
})

test('a rejected password is tried again until Redis accepts it, and is never logged', async () => {
  const admin = await open(server.redisUrl)
  const url = new URL(proxy.url)
  url.username = 'late'
  url.password = 'hunter2'
  const opening = open(url.href)
  await eventually(() => expect(lines.map(({ text }) => text).join()).toContain('WRONGPASS'))
  await admin[execute]((commands) => commands.acl('SETUSER', 'late', 'on', '>hunter2', '~*', '+@all'))
  expect((await opening).isReady()).toBe(true)
  await admin[execute]((commands) => commands.acl('DELUSER', 'late'))
  expect(JSON.stringify(lines)).not.toContain('hunter2')
})

test("a rejected command is no outage: the error gives the reason without the command's arguments", async () => {
  const redis = await open()
  await redis[execute]((commands) => commands.lpush('sh:test:list', 'x'))
  const refused = await redis[execute]((commands) => commands.incrby('sh:test:list', 4_711)).catch(
    (error: unknown) => error,
  )
  expect(refused).toBeInstanceOf(RedisRefusal)
  expect(refused).toMatchObject({ message: expect.stringContaining('WRONGTYPE'), cause: { name: 'ReplyError' } })
  expect((refused as Error).cause).not.toHaveProperty('command')
  await isReady(redis)
})

/** Makes Redis reply with this error. */
const answer = (redis: Redis, reply: string) =>
  redis[execute]((commands) => commands.eval('return redis.error_reply(ARGV[1])', 0, reply))

test.each([
  'LOADING Redis is loading the dataset in memory',
  "OOM command not allowed when used memory > 'maxmemory'.",
  'MISCONF Redis is configured to save RDB snapshots, but is unable to',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'CLUSTERDOWN The cluster is down',
  'NOREPLICAS Not enough good replicas to write.',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'BUSY Redis is busy running a script.',
  'NOAUTH Authentication required.',
  "NOPERM this user has no permissions to run the 'get' command",
])('%s: Redis cannot serve now', async (reply) => {
  const failed = await answer(await open(), reply).catch((error: unknown) => error)
  expect(failed).toMatchObject({ name: 'Unavailable', dependency: 'redis', cause: { name: 'ReplyError' } })
  expect(isNotExecuted(failed)).toBe(true)
})

test('a Redis that forbids a command is an outage, logged once and without the arguments', async () => {
  const admin = await open(server.redisUrl)
  await admin[execute]((commands) => commands.acl('SETUSER', 'narrow', 'on', '>pw', '~*', '+@all', '-incrby'))
  const url = new URL(proxy.url)
  url.username = 'narrow'
  url.password = 'pw'
  const redis = await open(url.href)
  lines.length = 0
  const asked = [
    ...Array.from({ length: 5 }, () => redis[execute]((commands) => commands.incrby('sh:test', 4_711))),
    redis[execute]((commands) => commands.eval("return redis.call('INCRBY', KEYS[1], 4711)", 1, 'sh:test')),
  ]
  for (const { reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({ name: 'Unavailable', dependency: 'redis' })
  }
  expect(lines).toHaveLength(1)
  expect(JSON.stringify(lines)).toContain('NOPERM')
  expect(JSON.stringify(lines)).not.toContain('4711')
  await admin[execute]((commands) => commands.acl('DELUSER', 'narrow'))
})

test('an unsent command is certainly not executed; one whose reply was lost may be', async () => {
  const redis = await open()
  proxy.cutWhen((chunk, direction) => direction === 'toClient' && chunk.length > 0)
  const cut = await set(redis, 'x').catch((error: unknown) => error)
  expect(cut).toMatchObject({ name: 'Unavailable', fate: 'unknown' })
  await redis.ready()
  proxy.refuse()
  await eventually(() => expect(redis.isReady()).toBe(false))
  const unsent = await set(redis, 'y').catch((error: unknown) => error)
  expect(unsent).toMatchObject({ name: 'Unavailable', fate: 'not-executed' })
  proxy.accept()
  await redis.ready()
  expect(await get(redis)).toBe('x')
})

test.each(['ERR user_script:1: attempt to compare nil with number', 'BUSYGROUP Consumer Group name already exists'])(
  '%s: the command is rejected',
  async (reply) => {
    await expect(answer(await open(), reply)).rejects.toThrow(RedisRefusal)
  },
)

test('an error inside a script is a refusal too', async () => {
  const redis = await open()
  await redis[execute]((commands) => commands.lpush('sh:test:list', 'x'))
  for (const script of ["return redis.call('GET', KEYS[1])", 'return 1 + nil']) {
    await expect(redis[execute]((commands) => commands.eval(script, 1, 'sh:test:list'))).rejects.toThrow(RedisRefusal)
  }
})
