import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { eventually, testPostgres, testRedis } from '@switchhook/testkit'
// oxlint-disable-next-line no-restricted-imports -- the driver of an application
import { Redis } from 'ioredis'
import { Pool, type PoolClient } from 'pg'
import { createReceiver } from '../receiver.ts'
import { KEPT_MS, type Store } from '../store.ts'
import { aDelivery, aLeg, asRequest, SECRET } from '../testing/deliveries.ts'
import { memoryStore } from './memory.ts'
import { postgresStore } from './postgres.ts'
import { redisStore } from './redis.ts'
import { sqliteStore } from './sqlite.ts'

/** A store, as two processes of an application have it. */
interface OpenedStore {
  readonly one: Store<unknown>
  readonly other: Store<unknown>
  /** Writes an effect in the transaction of the store, and reads all. Absent: the store has no transaction. */
  readonly effects?: { add(tx: unknown, name: string): Promise<void>; all(): Promise<string[]> }
  /** How long the store itself keeps a mark; others prune by the clock of the process. */
  readonly keptMs?: (id: string) => Promise<number>
  readonly close: () => Promise<void>
}

function openMemory(): OpenedStore {
  const store = memoryStore() as Store<unknown>
  return { one: store, other: store, close: async () => undefined }
}

function openSqlite(): OpenedStore {
  const folder = mkdtempSync(join(tmpdir(), 'receiver-'))
  const [one, other] = [new DatabaseSync(join(folder, 'db')), new DatabaseSync(join(folder, 'db'))]
  one.exec('PRAGMA journal_mode = WAL; CREATE TABLE effects (name TEXT)')
  const effects = other.prepare('SELECT name FROM effects')
  return {
    one: sqliteStore(one) as Store<unknown>,
    other: sqliteStore(other) as Store<unknown>,
    effects: {
      add: async (tx, name) => void (tx as DatabaseSync).prepare('INSERT INTO effects VALUES (?)').run(name),
      all: async () => effects.all().map(({ name }) => String(name)),
    },
    close: async () => {
      one.close()
      other.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function openPostgres(): Promise<OpenedStore> {
  const server = await testPostgres()
  const pool = () => new Pool({ host: server.host, user: 'postgres' })
  const [one, other] = [pool(), pool()]
  await other.query('CREATE TABLE effects (name text UNIQUE)')
  return {
    one: postgresStore(one) as Store<unknown>,
    other: postgresStore(other) as Store<unknown>,
    effects: {
      add: async (tx, name) => void (await (tx as PoolClient).query('INSERT INTO effects VALUES ($1)', [name])),
      all: async () => (await other.query<{ name: string }>('SELECT name FROM effects')).rows.map(({ name }) => name),
    },
    close: async () => {
      await Promise.all([one.end(), other.end()])
      await server.close()
    },
  }
}

async function openRedis(): Promise<OpenedStore> {
  const server = await testRedis()
  const [one, other] = [new Redis(server.redisUrl), new Redis(server.redisUrl)]
  return {
    one: redisStore(one),
    // As the package `redis` does it.
    other: redisStore({ sendCommand: ([command = '', ...args]) => other.call(command, ...args) }),
    keptMs: (id) => one.pttl(`{switchhook-receiver}:delivery:${id}`),
    close: async () => {
      one.disconnect()
      other.disconnect()
      await server.close()
    },
  }
}

const STORES = { memory: openMemory, sqlite: openSqlite, postgres: openPostgres, redis: openRedis }

describe.each(Object.entries(STORES))('the store in %s', (_name, open) => {
  let opened: OpenedStore
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened.close())
  afterEach(() => jest.restoreAllMocks())

  const position = (sequence: number, ended = false) => ({
    occurredAt: new Date(Date.UTC(2026, 10, 20) + sequence).toISOString(),
    sequence,
    ended,
  })

  test('handles a delivery once, whatever process asks', async () => {
    const work = jest.fn(async () => undefined)
    const id = randomUUID()
    expect(await opened.one.once(id, work)).toBe('done')
    expect(await opened.one.once(id, work)).toBe('already')
    expect(await opened.other.once(id, work)).toBe('already')
    expect(work).toHaveBeenCalledTimes(1)
  })

  test('does not begin a delivery again while another process handles it', async () => {
    const [id, begun, finish] = [randomUUID(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const first = opened.one.once(id, () => {
      begun.resolve()
      return finish.promise
    })
    await begun.promise
    const work = jest.fn(async () => undefined)
    expect(await opened.other.once(id, work)).toBe('busy')
    finish.resolve()
    expect(await first).toBe('done')
    expect(await opened.other.once(id, work)).toBe('already')
    expect(work).not.toHaveBeenCalled()
  })

  test('keeps nothing of work that fails: no mark, no position, no effect', async () => {
    const [id, subject] = [randomUUID(), randomUUID()]
    const failing = opened.one.once(id, async (tx) => {
      await opened.effects?.add(tx, id)
      expect(await opened.one.advance(tx, subject, position(3))).toEqual({ newer: true, missed: 0 })
      throw new Error('half-way')
    })
    await expect(failing).rejects.toThrow('half-way')
    expect((await opened.effects?.all()) ?? []).not.toContain(id)

    const again = opened.other.once(id, async (tx) => {
      await opened.effects?.add(tx, id)
      expect(await opened.other.advance(tx, subject, position(3))).toEqual({ newer: true, missed: 0 })
    })
    expect(await again).toBe('done')
    if (opened.effects) expect((await opened.effects.all()).filter((effect) => effect === id)).toEqual([id])
  })

  test('knows the newer snapshot, counts the missed ones, and takes none after the end', async () => {
    const subject = randomUUID()
    const advance = async (store: OpenedStore['one'], sequence: number, ended = false) => {
      let result: unknown
      await store.once(randomUUID(), async (tx) => {
        result = await store.advance(tx, subject, position(sequence, ended))
      })
      return result
    }
    expect(await advance(opened.one, 2)).toEqual({ newer: true, missed: 0 })
    expect(await advance(opened.other, 1)).toEqual({ newer: false, missed: 0 })
    expect(await advance(opened.other, 2)).toEqual({ newer: false, missed: 0 })
    expect(await advance(opened.other, 5)).toEqual({ newer: true, missed: 2 })
    expect(await advance(opened.one, 6, true)).toEqual({ newer: true, missed: 0 })
    expect(await advance(opened.one, 7)).toEqual({ newer: false, missed: 0 })
  })

  test('gives receivers of different names the same event, and even the same delivery, once each', async () => {
    const handled: string[] = []
    const open = (name: string, store: OpenedStore['one']) =>
      createReceiver({ name, secrets: SECRET, store, on: { 'call.status': () => void handled.push(name) } })
    const [crm, billing] = [open('crm', opened.one), open('billing', opened.other)]
    const [data, redirected] = [aLeg(1, 3, randomUUID()), aDelivery({ data: aLeg(1, 3, randomUUID()) })]
    const statuses: number[] = []
    for (const receiver of [crm, billing, crm, billing]) {
      for (const delivery of [aDelivery({ data }), redirected]) {
        statuses.push((await receiver.fetch(asRequest(delivery))).status)
      }
    }
    expect(handled).toEqual(['crm', 'crm', 'billing', 'billing'])
    expect(new Set(statuses)).toEqual(new Set([204]))
  })

  test('forgets a delivery after 31 days, and not before', async () => {
    const id = randomUUID()
    const work = async () => undefined
    await opened.one.once(id, work)
    if (opened.keptMs) {
      const keptMs = await opened.keptMs(id)
      expect(keptMs).toBeLessThanOrEqual(KEPT_MS)
      expect(keptMs).toBeGreaterThan(KEPT_MS - 600_000)
      return
    }
    const nowMs = Date.now()
    jest.spyOn(Date, 'now').mockReturnValue(nowMs + KEPT_MS - 60_000)
    await opened.one.once(randomUUID(), work)
    expect(await opened.one.once(id, work)).toBe('already')
    jest.spyOn(Date, 'now').mockReturnValue(nowMs + KEPT_MS + 4_000_000)
    await opened.one.once(randomUUID(), work)
    // PostgreSQL drops it in the background.
    await eventually(async () => expect(await opened.one.once(id, work)).toBe('done'))
  })
})

/** Closed after the test, also if it fails: an open connection would keep Jest from ending. */
const closing: OpenedStore[] = []
afterEach(async () => {
  for (const opened of closing.splice(0)) await opened.close()
})
const opening = async (store: Promise<OpenedStore>): Promise<OpenedStore> => {
  const opened = await store
  closing.push(opened)
  return opened
}

test('PostgreSQL: an error that the handler swallows is not committed as done', async () => {
  const { one, effects } = await opening(STORES.postgres())
  const twice = one.once('a', async (tx) => {
    await effects?.add(tx, 'same')
    await effects?.add(tx, 'same').catch(() => undefined)
  })
  await expect(twice).rejects.toThrow('current transaction is aborted')
  expect(await effects?.all()).toEqual([])
})

test('SQLite: a delivery drops a part of what is old, so that none waits for all of it', async () => {
  const database = new DatabaseSync(':memory:')
  const store = sqliteStore(database)
  const old = database.prepare("INSERT INTO switchhook_receiver VALUES (?, '', 0, 0, 1)")
  for (let n = 0; n < 1_000; n++) old.run(`old${n}`)
  const count = () =>
    Number(database.prepare('SELECT count(*) AS n FROM switchhook_receiver WHERE kept_until = 1').get()?.['n'])
  const counts: number[] = []
  for (let n = 0; n < 3; n++) {
    await store.once(randomUUID(), async () => undefined)
    counts.push(count())
  }
  expect(counts).toEqual([900, 800, 700])
})

test('Redis: two processes apply snapshots of one subject one after the other', async () => {
  const { one, other } = await opening(STORES.redis())
  const order: string[] = []
  const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = one.once('a', async (tx) => {
    await one.advance(tx, 'leg', { occurredAt: '2026-11-20T12:00:00.000Z', sequence: 1, ended: false })
    held.resolve()
    await asked.promise
    // Many more answers of Redis than the other process needs if nothing holds it back.
    for (let n = 0; n < 20; n++) await one.once(randomUUID(), async () => undefined)
    order.push('first')
  })
  await held.promise
  const second = other.once('b', async (tx) => {
    asked.resolve()
    await other.advance(tx, 'leg', { occurredAt: '2026-11-20T12:00:01.000Z', sequence: 2, ended: false })
    order.push('second')
  })
  expect(await Promise.all([first, second])).toEqual(['done', 'done'])
  expect(order).toEqual(['first', 'second'])
})
