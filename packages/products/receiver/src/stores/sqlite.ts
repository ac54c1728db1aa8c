import { createInOrder } from '../in-order.ts'
import { compare, KEPT_MS, type Position, type Store } from '../store.ts'

/** What the store needs of a `DatabaseSync` of node:sqlite, or of a `Database` of better-sqlite3. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): {
    get(...values: (string | number)[]): unknown
    run(...values: (string | number)[]): unknown
  }
}

const TABLE = `
  CREATE TABLE IF NOT EXISTS switchhook_receiver (
    key TEXT PRIMARY KEY,        -- a delivery id, or the subject of a position
    occurred_at TEXT,
    sequence INTEGER,
    ended INTEGER,
    kept_until INTEGER NOT NULL  -- ms since 1970
  );
  CREATE INDEX IF NOT EXISTS switchhook_receiver_kept_until ON switchhook_receiver (kept_until);`

/** More than a delivery adds. Few, because no delivery may wait long for what is old. */
const PRUNE_BATCH = 100

/**
 * Keeps marks and positions in the application's SQLite database. Handlers write their effects with `ctx.tx`, which is the
 * database: mark and effects are one transaction, so each effect is applied exactly once.
 *
 * Give the receiver a connection of its own: everything that is written over it while a handler runs is in the handler's
 * transaction. Deliveries are handled one after the other.
 */
export function sqliteStore<Database extends SqliteDatabase>(database: Database): Store<Database> {
  database.exec(TABLE)
  const find = database.prepare('SELECT occurred_at, sequence, ended FROM switchhook_receiver WHERE key = ?')
  const write = database.prepare('REPLACE INTO switchhook_receiver VALUES (?, ?, ?, ?, ?)')
  const prune = database.prepare(`DELETE FROM switchhook_receiver WHERE key IN
    (SELECT key FROM switchhook_receiver WHERE kept_until < ? ORDER BY kept_until LIMIT ${PRUNE_BATCH})`)
  const inOrder = createInOrder()

  return {
    once: (id, work) =>
      inOrder('', async () => {
        if (!begins(database)) return 'busy'
        try {
          const isDone = find.get(id) !== undefined
          if (!isDone) {
            await work(database)
            write.run(id, '', 0, 0, Date.now() + KEPT_MS)
            prune.run(Date.now())
          }
          database.exec('COMMIT')
          return isDone ? 'already' : 'done'
        } catch (error) {
          rollBack(database)
          throw error
        }
      }),
    async advance(_tx, subject, position) {
      const advance = compare(positionOf(find.get(subject)), position)
      const { occurredAt, sequence, ended } = position
      if (advance.newer) write.run(subject, occurredAt, sequence, Number(ended), Date.now() + KEPT_MS)
      return advance
    },
  }
}

/** Returns false if another process writes. */
function begins(database: SqliteDatabase): boolean {
  try {
    database.exec('BEGIN IMMEDIATE')
    return true
  } catch (error) {
    if (String(error).includes('database is locked')) return false
    throw error
  }
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // SQLite has already rolled back, for example because the disk is full.
  }
}

function positionOf(row: unknown): Position | undefined {
  if (row === undefined) return undefined
  const { occurred_at: occurredAt, sequence, ended } = row as { occurred_at: string; sequence: number; ended: number }
  return { occurredAt, sequence, ended: ended === 1 }
}
