import { type PostgresClient, type PostgresPool, postgresStore } from './postgres.ts'

/** A pool whose statements return one row, or fail, and what happened to its connections. */
function aPool(fails: (text: string) => unknown) {
  const closed: boolean[] = []
  const client: PostgresClient = {
    query: async (text) => {
      const error = fails(text)
      if (error !== undefined) throw error
      return { rows: text.startsWith('SELECT 1') ? [] : [{ free: true, may_prune: true }] }
    },
    release: (destroy) => void closed.push(destroy === true),
  }
  const pool: PostgresPool<PostgresClient> = { connect: async () => client }
  return { pool, closed }
}

test.each([
  ['is a replica since a failover', '25006', true],
  ['refuses the statement for another reason', '23505', false],
])('a connection whose server %s: closed %s', async (_case, code, isClosed) => {
  const refused = Object.assign(new Error('refused'), { code })
  const { pool, closed } = aPool((text) => (text.startsWith('INSERT') ? refused : undefined))
  const store = postgresStore(pool)
  await expect(store.once('a', async () => undefined)).rejects.toBe(refused)
  expect(closed.at(-1)).toBe(isClosed)
})
