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

const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS free'
/** Null: there is no table. False: the role cannot drop what is old. FOR UPDATE needs the right to update any column. */
const LOOK = `SELECT has_table_privilege(to_regclass('switchhook_receiver'), 'DELETE')
  AND has_any_column_privilege(to_regclass('switchhook_receiver'), 'UPDATE') AS may_prune`
/** `key` is a delivery id, or the subject of a position. `kept_until` is in ms since 1970. */
const TABLE = [
  `CREATE TABLE switchhook_receiver
    (key text PRIMARY KEY, occurred_at text, sequence bigint, ended boolean, kept_until bigint NOT NULL)`,
  'CREATE INDEX switchhook_receiver_kept_until ON switchhook_receiver (kept_until)',
]
const PRUNE_BATCH = 1_000
/** Rows that a handler holds are left for the next time. ARRAY: PostgreSQL runs the inner statement once. */
const PRUNE = `DELETE FROM switchhook_receiver WHERE key = ANY(ARRAY(
  SELECT key FROM switchhook_receiver WHERE kept_until < $1 ORDER BY kept_until LIMIT ${PRUNE_BATCH} FOR UPDATE SKIP LOCKED))
  RETURNING 1`
const IS_DONE = 'SELECT 1 FROM switchhook_receiver WHERE key = $1'
const MARK = 'INSERT INTO switchhook_receiver (key, kept_until) VALUES ($1, $2)'
/** Locks the row until the end of the transaction; creates it if it is missing. */
const HOLD = `INSERT INTO switchhook_receiver (key, kept_until) VALUES ($1, $2)
  ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING occurred_at, sequence, ended`
const MOVE =
  'UPDATE switchhook_receiver SET occurred_at = $2, sequence = $3, ended = $4, kept_until = $5 WHERE key = $1'

const IS_REPLICA = 'SELECT pg_is_in_recovery() AS is_replica'
const PRUNE_EVERY_MS = 60 * 60 * 1_000
/** One failure can be a moment without the database, which deliveries report themselves. */
const MAX_FAILED_PRUNES = 3

/**
 * Keeps marks and positions in the application's PostgreSQL database. Handlers write their effects with `ctx.tx`, a client
 * in a transaction: mark and effects are committed together, so each effect is applied exactly once.
 */
export function postgresStore<Client extends PostgresClient>(pool: PostgresPool<Client>): Store<Client> {
  let ready: Promise<void> | undefined
  let prunedAtMs = 0
  let failedPrunes = 0
  let pruneError: unknown
  /** Without it, the table would grow unnoticed. The delivery is retried. */
  const reportFailedPrunes = (): void => {
    if (failedPrunes < MAX_FAILED_PRUNES) return
    failedPrunes = 0
    throw new Error(
      `Old rows of the table switchhook_receiver could not be deleted ${MAX_FAILED_PRUNES} times in a row.`,
      {
        cause: pruneError,
      },
    )
  }

  /**
   * The server of an old connection can be a replica since a failover; a new connection reaches the other one. The error does not
   * tell it: the handler, or a library of it, may have replaced it by another.
   */
  const isReplica = async (client: Client): Promise<boolean> => {
    const [found] = await client.query(IS_REPLICA).then(
      ({ rows }) => rows as { readonly is_replica: boolean }[],
      // A database that does not know the question, or a lost connection, which the pool drops.
      () => [],
    )
    return found?.is_replica === true
  }
  const inTransaction = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    // A lost connection would otherwise end the process. The next statement rejects with the same error.
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
      isBroken ||= await isReplica(client)
      throw error
    } finally {
      client.removeListener?.('error', ignore)
      client.release(isBroken)
    }
  }
  const look = (): Promise<boolean | null> =>
    inTransaction(async (client) => {
      const [found] = (await client.query(LOOK)).rows as { readonly may_prune: boolean | null }[]
      return found?.may_prune ?? null
    })
  const create = (): Promise<boolean> =>
    inTransaction(async (client) => {
      for (const statement of TABLE) await client.query(statement)
      return true
    })
  /**
   * Creates the table if there is none. It looks first, because `CREATE INDEX IF NOT EXISTS` waits for the handlers of all
   * processes, and needs the rights of an owner, also if the index exists.
   */
  const prepare = async (): Promise<void> => {
    const mayPrune =
      (await look()) ??
      (await create().catch(async (error: unknown) => {
        const created = await look()
        // Unless a process that started at the same time has created it.
        if (created === null) throw error
        return created
      }))
    if (!mayPrune) throw new Error('The role needs the rights UPDATE and DELETE on the table switchhook_receiver.')
  }
  /** Drops what is old, in short transactions. */
  const prune = async (): Promise<void> => {
    if (Date.now() - prunedAtMs < PRUNE_EVERY_MS) return
    prunedAtMs = Date.now()
    try {
      let dropped: unknown[]
      do dropped = await inTransaction(async (client) => (await client.query(PRUNE, [Date.now()])).rows)
      while (dropped.length === PRUNE_BATCH)
      failedPrunes = 0
    } catch (cause) {
      failedPrunes += 1
      pruneError = cause
    }
  }

  return {
    async once(id, work) {
      ready ??= prepare().catch((error: unknown) => {
        ready = undefined
        throw error
      })
      await ready
      reportFailedPrunes()
      // Not awaited: no delivery waits for it. It never rejects, and tries again after an hour.
      void prune()
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

const ignore = (): void => undefined

interface Row {
  /** Null: the row was just created. */
  readonly occurred_at: string | null
  /** A bigint: drivers return a string. */
  readonly sequence: string | number
  readonly ended: boolean
}
