import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { testPostgres, testRedis } from '@switchhook/testkit'
// oxlint-disable-next-line no-restricted-imports -- the driver of an application
import { Redis } from 'ioredis'
import { Pool, type PoolClient } from 'pg'
import type { Store } from '../store.ts'
import { memoryStore } from '../stores/memory.ts'
import { postgresStore } from '../stores/postgres.ts'
import { redisStore } from '../stores/redis.ts'
import { sqliteStore } from '../stores/sqlite.ts'

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

export const STORES = { memory: openMemory, sqlite: openSqlite, postgres: openPostgres, redis: openRedis }
