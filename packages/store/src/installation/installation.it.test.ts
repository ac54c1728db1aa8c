import { randomUUID } from 'node:crypto'
import { type InstallationId, Unavailable, Unparsable } from '@switchhook/contracts'
import { aSubscription, collect, eventually, silentLog, type TestRedis, testRedis } from '@switchhook/testkit'
import { INSTALLATION_KEY } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createMatching } from '../subscriptions/matching.ts'
import { matchOf } from '../subscriptions/subscription-index.ts'
import { createSubscriptionStore } from '../subscriptions/subscription-store.ts'
import { type Installation, openInstallation } from './installation.ts'
import { createInstallationStore } from './installation-store.ts'

let server: TestRedis
let redis: Redis
const opened: Installation[] = []
let lines: { level: string; message: string; fields: Readonly<Record<string, unknown>> | undefined }[]

beforeEach(async () => {
  server = await testRedis()
  redis = await openRedis({ url: server.redisUrl, log: silentLog, name: 'test' })
  lines = []
})
afterEach(async () => {
  for (const installation of opened.splice(0)) installation.close()
  await redis.close()
  await server.close()
})

async function open(checkEveryMs = 60_000): Promise<Installation> {
  const write =
    (level: string) =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void =>
      void lines.push({ level, message, fields })
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  const installation = await openInstallation({ redis, log, checkEveryMs })
  opened.push(installation)
  return installation
}

const errors = () => lines.filter(({ level }) => level === 'error')
const check = (installation: Installation, header?: unknown): void =>
  installation.checked(() => {})({ headers: header === undefined ? {} : { 'sh-installation': header } })
const newId = () => randomUUID() as InstallationId

test('processes that start together on an empty Redis share one new id, and later ones find it', async () => {
  const all = await Promise.all([open(), open(), open()])
  const ids = new Set([...all, await open()].map((installation) => installation.id()))
  expect(ids.size).toBe(1)
  expect(lines.map(({ message }) => message)).toEqual(['installation created'])
})

test('messages of this installation and messages without an id are handled; a malformed id is unparsable', async () => {
  const installation = await open()
  check(installation, installation.id())
  check(installation, installation.id().toUpperCase())
  check(installation)
  expect(() => check(installation, 'acme')).toThrow(Unparsable)
  expect(() => check(installation, { id: 1 })).toThrow('sh-installation must be a GUID')
  expect(installation.isConfirmed()).toBe(true)
  expect(errors()).toEqual([])
})

test('a message of another installation pauses; one line names both ids, however many messages there are', async () => {
  const installation = await open()
  const other = newId()
  for (let n = 0; n < 3; n++) expect(() => check(installation, other)).toThrow(Unavailable)
  expect(installation.isConfirmed()).toBe(false)
  expect(errors()).toEqual([
    {
      level: 'error',
      message: `a message belongs to installation ${other}, Redis holds ${installation.id()}`,
      fields: { messageFrom: other, redis: installation.id() },
    },
  ])
  check(installation, installation.id())
})

test('after an operator adopts the other id, consumers resume and handle its messages', async () => {
  const installation = await open(20)
  const other = newId()
  expect(() => check(installation, other)).toThrow(Unavailable)
  let hasRecovered = false
  const waitForRecovery = async (): Promise<void> => {
    await installation.recovered()
    hasRecovered = true
  }
  const recovered = waitForRecovery()
  await installation.verify()
  expect(hasRecovered).toBe(false)
  await createInstallationStore(redis).decide(other, 'adopted')
  await recovered
  check(installation, other)
  expect(installation.isConfirmed()).toBe(true)
})

test('after an operator discards the other id, consumers resume and its messages are unparsable', async () => {
  const installation = await open(20)
  const other = newId()
  expect(() => check(installation, other)).toThrow(Unavailable)
  await createInstallationStore(redis).decide(other, 'discarded')
  await installation.recovered()
  expect(() => check(installation, other)).toThrow(Unparsable)
})

test('a Redis that lost its data is noticed without traffic, refuses every message, and resumes after a restore', async () => {
  const installation = await open(20)
  const id = installation.id()
  await server.lose()
  await eventually(() => expect(installation.isConfirmed()).toBe(false))
  for (const header of [undefined, id, newId()]) expect(() => check(installation, header)).toThrow(Unavailable)
  await expect(installation.verify()).rejects.toThrow('Redis lost its data')
  expect(errors()).toEqual([
    {
      level: 'error',
      message: `Redis lost its data: it holds no installation, but this process belongs to ${id}`,
      fields: { redis: null, process: id },
    },
  ])
  const recovered = installation.recovered()
  await server.restore()
  await recovered
  check(installation)
  expect(installation.isConfirmed()).toBe(true)
})

test('a process does not follow a new id that another process created in the emptied Redis', async () => {
  const installation = await open()
  const before = installation.id()
  await server.lose()
  const started = await open()
  await expect(installation.verify()).rejects.toThrow(
    `Redis holds installation ${started.id()}, this process belongs to ${before}`,
  )
  expect(() => check(installation)).toThrow(Unavailable)
  expect(() => check(started, before)).toThrow(Unavailable)
  // The restored data is older than the new id, so the new process continues it.
  await server.restore()
  await expect(started.verify()).rejects.toThrow(`now continues installation ${before}`)
  await Promise.all([installation.verify(), started.verify()])
  expect([installation.id(), started.id()]).toEqual([before, before])
})

test('nor if the clock of the host that created the new id is before the birth of the installation', async () => {
  const installation = await open()
  await server.lose()
  const clock = jest.spyOn(Date, 'now').mockReturnValue(1)
  const started = await open()
  clock.mockRestore()
  await expect(installation.verify()).rejects.toThrow(`Redis holds installation ${started.id()}`)
  await server.restore()
  await expect(started.verify()).rejects.toThrow(`now continues installation ${installation.id()}`)
})

test('a process whose installation was adopted by a new one continues under the new id', async () => {
  const installation = await open()
  const before = installation.id()
  await server.lose()
  const started = await open()
  await createInstallationStore(redis).decide(before, 'adopted')
  await expect(installation.verify()).rejects.toThrow(Unavailable)
  await installation.verify()
  expect(installation.id()).toBe(started.id())
  check(installation, before)
})

test('confirmAbsence checks nothing if the record is found; otherwise it verifies the installation', async () => {
  const installation = await open()
  const look = installation.confirmAbsence(
    async (found: boolean) => found,
    (outcome) => outcome.status === 'fulfilled' && !outcome.value,
  )
  await expect(look(false)).resolves.toBe(false)
  await server.lose()
  await expect(look(true)).resolves.toBe(true)
  await expect(look(false)).rejects.toThrow(Unavailable)
})

test('confirmAbsence verifies the installation before an error that reports an absence, and before no other', async () => {
  const installation = await open()
  const read = installation.confirmAbsence(
    (message: string) => Promise.reject(new Error(message)),
    (outcome) => outcome.status === 'rejected' && (outcome.reason as Error).message === 'not found',
  )
  await expect(read('not found')).rejects.toThrow('not found')
  await server.lose()
  await expect(read('forbidden')).rejects.toThrow('forbidden')
  await expect(read('not found')).rejects.toThrow(Unavailable)
})

test('a record missing in the continued installation is not missing for a message that was checked before', async () => {
  const installation = await open()
  const look = installation.confirmAbsence(
    async (found: boolean) => found,
    (outcome) => outcome.status === 'fulfilled' && !outcome.value,
  )
  check(installation, installation.id())
  await server.lose()
  await redis[execute]((commands) => commands.hset(INSTALLATION_KEY, 'own', `${newId()} 1`))
  await expect(look(false)).rejects.toThrow(Unavailable)
  await expect(look(false)).resolves.toBe(false)
})

describe('subscriptions in an emptied Redis', () => {
  test('are unavailable instead of missing, and cannot be created', async () => {
    const { verify } = await open()
    const [store, matching] = [createSubscriptionStore(redis, verify, {}), createMatching(redis, verify)]
    const created = await store.create(aSubscription())
    await expect(matching('acme', 'call.status')).resolves.toEqual([matchOf(created)])
    await server.lose()
    await expect(matching('acme', 'call.status')).rejects.toThrow(Unavailable)
    await expect(matching('never-seen', 'call.status')).rejects.toThrow(Unavailable)
    await expect(store.find('acme', created.id)).rejects.toThrow(Unavailable)
    await expect(collect(store.all('acme'))).rejects.toThrow(Unavailable)
    await expect(store.revise('acme', created.id, (present) => ({ ...present, enabled: false }))).rejects.toThrow(
      Unavailable,
    )
    await expect(store.remove('acme', created.id)).rejects.toThrow(Unavailable)
    await expect(store.create(aSubscription())).rejects.toThrow(Unavailable)
    await server.restore()
    await expect(matching('acme', 'call.status')).resolves.toEqual([matchOf(created)])
  })

  test('that were created there are not taken for all of a tenant’s subscriptions', async () => {
    const { verify } = await open()
    const [store, matching] = [createSubscriptionStore(redis, verify, {}), createMatching(redis, verify)]
    await Promise.all([store.create(aSubscription()), store.create(aSubscription())])
    await server.lose()
    await createSubscriptionStore(redis, (await open()).verify, {}).create(aSubscription())
    await expect(matching('acme', 'call.status')).rejects.toThrow(Unavailable)
    await server.restore()
    await expect(matching('acme', 'call.status')).resolves.toHaveLength(2)
  })
})
