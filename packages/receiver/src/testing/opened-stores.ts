import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { testRedis } from '@switchhook/testkit'
// oxlint-disable-next-line no-restricted-imports -- the driver of an application
import { Redis } from 'ioredis'
import type { Store } from '../store.ts'
import { memoryStore } from '../stores/memory.ts'
import { type PostgresClient, type PostgresPool, postgresStore } from '../stores/postgres.ts'
import { redisStore } from '../stores/redis.ts'
import { sqliteStore } from '../stores/sqlite.ts'
import { createTurns } from '../turns.ts'
import type { Question, Reply } from './postgres-worker.ts'

/** A store, as two processes of an application have it. */
export interface OpenedStore {
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
  const databases = [1, 2].map(() => new DatabaseSync(join(folder, 'db'))) as [DatabaseSync, DatabaseSync]
  databases[0].exec('PRAGMA journal_mode = WAL; CREATE TABLE effects (name TEXT)')
  const [one, other] = databases.map((database) => sqliteStore(database) as Store<unknown>) as [
    Store<unknown>,
    Store<unknown>,
  ]
  return {
    one,
    other,
    effects: {
      add: async (tx, name) => void (tx as DatabaseSync).prepare('INSERT INTO effects VALUES (?)').run(name),
      all: async () =>
        databases[1]
          .prepare('SELECT name FROM effects')
          .all()
          .map((row) => String(row['name'])),
    },
    close: async () => {
      for (const database of databases) database.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** A PostgreSQL in a thread, as a pool of one connection: PGlite has no more. */
function openPglite(): PostgresPool<PostgresClient> & { close(): Promise<unknown> } {
  const worker = new Worker(join(import.meta.dirname, 'postgres-worker.ts'))
  const waiting = new Map<number, (reply: Reply) => void>()
  let asked = 0
  worker.on('message', (reply: Reply) => waiting.get(reply.id)?.(reply))
  const query: PostgresClient['query'] = async (text, values = []) => {
    const id = asked++
    const reply = await new Promise<Reply>((resolve) => {
      waiting.set(id, resolve)
      // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
      worker.postMessage({ id, text, values } satisfies Question)
    })
    if ('error' in reply) throw new Error(reply.error)
    return reply
  }
  const inTurn = createTurns()
  return {
    connect: () =>
      new Promise((connected) => {
        void inTurn('', () => new Promise<void>((release) => connected({ query, release: () => release() })))
      }),
    close: () => worker.terminate(),
  }
}

async function openPostgres(): Promise<OpenedStore> {
  const pool = openPglite()
  const alone = async (text: string) => {
    const client = await pool.connect()
    return client.query(text).finally(() => client.release())
  }
  await alone('CREATE TABLE effects (name text UNIQUE)')
  return {
    one: postgresStore(pool) as Store<unknown>,
    other: postgresStore(pool) as Store<unknown>,
    effects: {
      add: async (tx, name) => void (await (tx as PostgresClient).query('INSERT INTO effects VALUES ($1)', [name])),
      all: async () => (await alone('SELECT name FROM effects')).rows.map((row) => (row as { name: string }).name),
    },
    close: async () => void (await pool.close()),
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

export const STORES = { memory: openMemory, sqlite: openSqlite, postgres: openPostgres, redis: openRedis }
