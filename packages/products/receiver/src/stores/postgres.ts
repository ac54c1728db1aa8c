import { compare, KEPT_MS, type Store } from '../store.ts'

/** What the store needs of a client of the package `pg`. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>
  /** `destroy`: the connection is closed instead of being used again. */
  release(destroy?: boolean): void
  on?(event: 'error', listener: () => void): unknown
  removeListener?(event: 'error', listener: () => void): unknown
}

/** A `Pool` of the package `pg`. */
export interface PostgresPool<Client extends PostgresClient> {
  connect(): Promise<Client>
}

const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))'
const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS free'
/** `key` is a delivery id, or the subject of a position. `kept_until` is in ms since 1970. */
const TABLE = [
  `CREATE TABLE IF NOT EXISTS switchhook_receiver
    (key text PRIMARY KEY, occurred_at text, sequence bigint, ended boolean, kept_until bigint NOT NULL)`,
  'CREATE INDEX IF NOT EXISTS switchhook_receiver_kept_until ON switchhook_receiver (kept_until)',
]
const PRUNE = 'DELETE FROM switchhook_receiver WHERE kept_until < $1'
const IS_DONE = 'SELECT 1 FROM switchhook_receiver WHERE key = $1'
const MARK = 'INSERT INTO switchhook_receiver (key, kept_until) VALUES ($1, $2)'
/** Locks the row until the end of the transaction; creates it if it is missing. */
const HOLD = `INSERT INTO switchhook_receiver (key, kept_until) VALUES ($1, $2)
  ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING occurred_at, sequence, ended`
const MOVE =
  'UPDATE switchhook_receiver SET occurred_at = $2, sequence = $3, ended = $4, kept_until = $5 WHERE key = $1'

const PRUNE_EVERY_MS = 60 * 60 * 1_000

/**
 * Keeps marks and positions in the application's PostgreSQL database. Handlers write their effects with `ctx.tx`, a client
 * in a transaction: mark and effects are committed together, so each effect is applied exactly once.
 */
export function postgresStore<Client extends PostgresClient>(pool: PostgresPool<Client>): Store<Client> {
  let tended: Promise<unknown> = Promise.resolve()
  let tendedAtMs = 0

  const inTransaction = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    client.on?.('error', ignore)
    let isBroken = false
    try {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      const result = await work(client)
      await client.query('COMMIT')
      return result
    } catch (error) {
      // If this fails too, PostgreSQL rolls back when the connection is closed. Used again, it would still be in the transaction.
      await client.query('ROLLBACK').catch(() => (isBroken = true))
      throw error
    } finally {
      client.removeListener?.('error', ignore)
      client.release(isBroken)
    }
  }
  /** Creates the table at first, then drops what is old every hour. */
  const tend = (): Promise<unknown> => {
    if (Date.now() - tendedAtMs < PRUNE_EVERY_MS) return tended
    tendedAtMs = Date.now()
    tended = inTransaction(async (client) => {
      // Processes that start together would otherwise create the table twice, and one of them would fail.
      await client.query(LOCK, ['switchhook_receiver'])
      for (const statement of TABLE) await client.query(statement)
      await client.query(PRUNE, [Date.now()])
    })
    tended.catch(() => (tendedAtMs = 0))
    return tended
  }

  return {
    async once(id, work) {
      await tend()
      return inTransaction(async (client) => {
        const [lock] = (await client.query(TRY_LOCK, [id])).rows as { readonly free: boolean }[]
        if (!lock?.free) return 'busy'
        // A statement of its own: it has to see what was committed before the lock was free.
        if ((await client.query(IS_DONE, [id])).rows.length > 0) return 'already'
        await work(client)
        // Last: it fails if a statement of `work` has failed, even if the handler has caught the error.
        await client.query(MARK, [id, Date.now() + KEPT_MS])
        return 'done'
      })
    },
    async advance(client, subject, position) {
      const keptUntilMs = Date.now() + KEPT_MS
      const [row] = (await client.query(HOLD, [subject, keptUntilMs])).rows as Row[]
      const last = row?.occurred_at && { occurredAt: row.occurred_at, sequence: Number(row.sequence), ended: row.ended }
      const advance = compare(last || undefined, position)
      const { occurredAt, sequence, ended } = position
      if (advance.newer) await client.query(MOVE, [subject, occurredAt, sequence, ended, keptUntilMs])
      return advance
    },
  }
}

/** A lost connection would otherwise end the process. The next statement rejects with the same error. */
const ignore = (): void => undefined

interface Row {
  /** Null: the row was just created. */
  readonly occurred_at: string | null
  /** A bigint: drivers return a string. */
  readonly sequence: string | number
  readonly ended: boolean
}
