import { type PostgresClient, type PostgresPool, postgresStore } from './postgres.ts'

const refused = Object.assign(new Error('refused'), { code: '25006' })

/** A pool whose server is a primary or, since a failover, a replica, and what happened to its connections. */
function aPool(isReplica: boolean) {
  const closed: boolean[] = []
  const client: PostgresClient = {
    query: async (text) => {
      if (text.includes('pg_is_in_recovery')) return { rows: [{ is_replica: isReplica }] }
      if (text.startsWith('INSERT')) throw refused
      return { rows: text.startsWith('SELECT 1') ? [] : [{ free: true, may_prune: true }] }
    },
    release: (destroy) => void closed.push(destroy === true),
  }
  const pool: PostgresPool<PostgresClient> = { connect: async () => client }
  return { pool, closed }
}

const wrapped = new Error('The library of the handler failed.', { cause: refused })

test.each([
  ['its mark is refused', async () => undefined, refused],
  ['its handler fails with the error of a library', () => Promise.reject(wrapped), wrapped],
])('a connection is closed if %s and its server has become a replica, and only then', async (_case, work, error) => {
  for (const isReplica of [true, false]) {
    const { pool, closed } = aPool(isReplica)
    await expect(postgresStore(pool).once('a', work)).rejects.toBe(error)
    expect(closed.at(-1)).toBe(isReplica)
  }
})
