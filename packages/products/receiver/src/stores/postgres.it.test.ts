import { randomUUID } from 'node:crypto'
import { eventually, testPostgres } from '@switchhook/testkit'
import { Pool } from 'pg'
import { KEPT_MS, type Store } from '../store.ts'
import { type PostgresClient, postgresStore } from './postgres.ts'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  jest.restoreAllMocks()
  for (const close of open.splice(0).toReversed()) await close()
})

/** A database, and a pool of each process. A statement that waits for a lock fails instead of blocking the test. */
async function openServer() {
  const server = await testPostgres()
  open.push(() => server.close())
  return (user = 'postgres'): Pool => {
    const pool = new Pool({ host: server.host, user, database: 'postgres', lock_timeout: 5_000 })
    open.push(() => pool.end())
    return pool
  }
}

const nothing = async (): Promise<void> => undefined
const at = (sequence: number) => ({ occurredAt: new Date(1e12 + sequence).toISOString(), sequence, ended: false })

/** A delivery whose handler has advanced `subject`, and runs until `finish` is called. */
async function begin(store: Store<PostgresClient>, subject: string) {
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = store.once(randomUUID(), async (tx) => {
    await store.advance(tx, subject, at(1))
    begun.resolve()
    await held.promise
  })
  // Otherwise the pool of a failed test would wait for its connection.
  open.push(async () => held.resolve())
  await Promise.race([begun.promise, done])
  return async () => {
    held.resolve()
    expect(await done).toBe('done')
  }
}

test('a process that starts, or prunes after an hour, does not wait for the handlers of others', async () => {
  const pool = await openServer()
  const running = postgresStore(pool())
  const finish = await begin(running, 'leg')
  expect(await postgresStore(pool()).once(randomUUID(), nothing)).toBe('done')

  const nowMs = Date.now()
  jest.spyOn(Date, 'now').mockReturnValue(nowMs + 2 * 60 * 60 * 1_000)
  expect(await running.once(randomUUID(), nothing)).toBe('done')
  await finish()
})

test('processes that start together create the table once', async () => {
  const pool = await openServer()
  const stores = Array.from({ length: 8 }, () => postgresStore(pool()))
  const results = await Promise.all(stores.map((store) => store.once(randomUUID(), nothing)))
  expect(new Set(results)).toEqual(new Set(['done']))
})

test('drops in batches what is older than 31 days, and leaves what a handler holds', async () => {
  const pool = await openServer()
  const admin = pool()
  const holder = postgresStore(pool())
  await holder.once('recent', nothing)
  await admin.query(
    `INSERT INTO switchhook_receiver SELECT 'old' || n, $1, 9, false, 1 FROM generate_series(1, 2500) n`,
    [at(9).occurredAt],
  )
  const finish = await begin(holder, 'old2500')
  expect(await postgresStore(pool()).once('next', nothing)).toBe('done')
  const kept = async () =>
    (await admin.query<{ key: string }>("SELECT key FROM switchhook_receiver WHERE key LIKE 'old%'")).rows
  await eventually(async () => expect(await kept()).toEqual([{ key: 'old2500' }]))
  await finish()
  expect(await holder.once('recent', nothing)).toBe('already')
})

test('drops what is old again after an hour', async () => {
  const pool = await openServer()
  const admin = pool()
  const store = postgresStore(admin)
  await store.once('first', nothing)
  const nowMs = Date.now()
  jest.spyOn(Date, 'now').mockReturnValue(nowMs + KEPT_MS + 4_000_000)
  await store.once('second', nothing)
  await eventually(async () => {
    const { rows } = await admin.query<{ key: string }>('SELECT key FROM switchhook_receiver')
    expect(rows).toEqual([{ key: 'second' }])
  })
})

describe('a role that does not own the table', () => {
  const app = async (rights: string) => {
    const pool = await openServer()
    const admin = pool()
    await postgresStore(admin).once('migrated', nothing)
    await admin.query(`CREATE ROLE app LOGIN; GRANT ${rights} ON switchhook_receiver TO app`)
    return { store: postgresStore(pool('app')), admin }
  }

  test('needs the rights to read and write it only', async () => {
    const { store } = await app('SELECT, INSERT, UPDATE, DELETE')
    const finish = await begin(store, 'leg')
    await finish()
    expect(await store.once('migrated', nothing)).toBe('already')
  })

  test.each(['SELECT, INSERT, UPDATE', 'SELECT, INSERT, DELETE'])(
    'is refused at the first delivery if it cannot drop what is old: %s',
    async (rights) => {
      const { store } = await app(rights)
      await expect(store.once(randomUUID(), nothing)).rejects.toThrow(
        'needs the rights UPDATE and DELETE on the table switchhook_receiver',
      )
    },
  )

  test('one delivery is rejected with the reason when old rows could not be dropped three times in a row', async () => {
    const { store, admin } = await app('SELECT, INSERT, UPDATE, DELETE')
    expect(await store.once(randomUUID(), nothing)).toBe('done')
    await admin.query('REVOKE DELETE ON switchhook_receiver FROM app')
    const nowMs = Date.now()
    for (const hours of [2, 4, 6]) {
      jest.spyOn(Date, 'now').mockReturnValue(nowMs + hours * 60 * 60 * 1_000)
      expect(await store.once(randomUUID(), nothing)).toBe('done')
    }
    await eventually(() =>
      expect(store.once(randomUUID(), nothing)).rejects.toMatchObject({
        message: 'Old rows of the table switchhook_receiver could not be deleted 3 times in a row.',
        cause: expect.objectContaining({ message: 'permission denied for table switchhook_receiver' }),
      }),
    )
    expect(await store.once(randomUUID(), nothing)).toBe('done')
  })
})
