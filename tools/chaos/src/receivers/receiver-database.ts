import { DatabaseSync } from 'node:sqlite'
import type { Store } from '@switchhook/receiver'
// oxlint-disable-next-line no-restricted-imports -- each store of the receiver has an entry of its own
import { postgresStore } from '@switchhook/receiver/postgres'
// oxlint-disable-next-line no-restricted-imports -- as above
import { sqliteStore } from '@switchhook/receiver/sqlite'
import { Pool, type PoolClient } from 'pg'

export type StoreName = 'sqlite' | 'postgres'

type Value = string | number
type Row = Readonly<Record<string, unknown>>

/** The database of a subscriber: what its handlers have done, and what it shows. */
export interface ReceiverDatabase {
  readonly store: Store<unknown>
  /** Writes in the transaction of the store. Parameters are `$1`, `$2` and so on. */
  write(tx: unknown, sql: string, values: readonly Value[]): Promise<void>
  /** Runs a statement outside of a transaction. */
  query(sql: string, values?: readonly Value[]): Promise<readonly Row[]>
  close(): Promise<void>
}

/**
 * `effects` has no key, so that an effect that is applied twice shows. `view` is the last state of each leg and agent.
 * `door` is the receiver that applied it.
 */
const TABLES = [
  'CREATE TABLE IF NOT EXISTS effects (door TEXT NOT NULL, event_id TEXT NOT NULL)',
  `CREATE TABLE IF NOT EXISTS view
    (subject TEXT PRIMARY KEY, state INTEGER, sequence INTEGER, occurred_at TEXT, started_at TEXT)`,
]

/** @param location the file, or the folder of the server's socket */
export async function openReceiverDatabase(name: StoreName, location: string): Promise<ReceiverDatabase> {
  const database = name === 'sqlite' ? openSqlite(location) : openPostgres(location)
  for (const table of TABLES) await database.query(table)
  return database
}

const run = (database: DatabaseSync, sql: string, values: readonly Value[]): Row[] =>
  database.prepare(sql.replaceAll('$', '?')).all(...values)

function openSqlite(file: string): ReceiverDatabase {
  const [own, other] = [new DatabaseSync(file), new DatabaseSync(file)]
  own.exec('PRAGMA journal_mode = WAL')
  return {
    store: sqliteStore(own) as Store<unknown>,
    write: async (tx, sql, values) => void run(tx as DatabaseSync, sql, values),
    query: async (sql, values = []) => run(other, sql, values),
    close: async () => [own, other].forEach((one) => one.close()),
  }
}

function openPostgres(host: string): ReceiverDatabase {
  const pool = new Pool({ host, user: 'postgres' })
  return {
    store: postgresStore(pool) as Store<unknown>,
    write: async (tx, sql, values) => void (await (tx as PoolClient).query(sql, [...values])),
    query: async (sql, values = []) => (await pool.query<Row>(sql, [...values])).rows,
    close: () => pool.end(),
  }
}
