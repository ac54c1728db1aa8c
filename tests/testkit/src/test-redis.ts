import { once } from 'node:events'
import { connect } from 'node:net'
import { infrastructureUrl } from './test-broker.ts'

export type TestRedis = Awaited<ReturnType<typeof testRedis>>

/** By default, Redis has the databases 0 to 15. */
const LAST_DATABASE = 15

/**
 * Empties and returns the logical database with the number of the Jest worker. Test files of one worker run one after the
 * other, so they never share it. `lose` moves the data to a spare database, counted from the end.
 */
export async function testRedis() {
  const url = new URL(infrastructureUrl('TEST_REDIS_URL'))
  const database = Number(process.env['JEST_WORKER_ID'] ?? 1)
  const spare = LAST_DATABASE - database
  url.pathname = `/${database}`
  const inDatabase = (...commands: readonly string[]) => send(url, [`SELECT ${database}`, ...commands])
  const swap = `SWAPDB ${database} ${spare}`
  const clear = () => send(url, [`SELECT ${spare}`, 'FLUSHDB', `SELECT ${database}`, 'FLUSHDB'])
  await clear()
  return {
    redisUrl: url.href,
    /** Deletes all data except the installation id, so that running services continue. */
    flush: () => inDatabase(FLUSH_DATA),
    /** Removes all data, as if Redis had been restarted without its volume. Connections stay open. */
    lose: () => send(url, [`SELECT ${spare}`, 'FLUSHDB', swap]),
    /** Restores the data that `lose` removed. Later writes are lost. */
    restore: () => inDatabase(swap),
    /** Sets `maxmemory` of the whole server: 1 makes it full, 0 removes the limit. A test that sets it must remove it. */
    limitMemory: async (bytes: number): Promise<void> => void (await send(url, [`CONFIG SET maxmemory ${bytes}`])),
    /** How long a key still lasts, in ms; negative: it does not expire, or does not exist. */
    expiresInMs: async (key: string): Promise<number> => Number((await inDatabase(`PTTL ${key}`))[1]),
    /** Sets a key to a text without blanks. */
    set: (key: string, value: string) => inDatabase(`SET ${key} ${value}`),
    close: clear,
  }
}

/** An inline command that runs a Lua script. */
const FLUSH_DATA = `EVAL "${[
  "local installation = redis.call('HGETALL', 'sh:installation')",
  "redis.call('FLUSHDB')",
  "if #installation > 0 then redis.call('HSET', 'sh:installation', unpack(installation)) end",
  "return redis.status_reply('OK')",
].join(' ')}" 0`

/** For `TcpProxy.alter`: makes the answer to CONFIG GET say `appendonly no` (RESP2, bulk strings). */
export function forgetful(chunk: Buffer): Buffer {
  const answer = chunk.toString('latin1').replace('appendonly\r\n$3\r\nyes', 'appendonly\r\n$2\r\nno')
  return Buffer.from(answer, 'latin1')
}

/** Sends inline commands (Redis protocol, "Inline commands"). Resolves to their replies, each of one line, without its type. */
async function send(url: URL, commands: readonly string[]): Promise<string[]> {
  const user = url.username ? `${decodeURIComponent(url.username)} ` : ''
  const all = url.password ? [`AUTH ${user}${decodeURIComponent(url.password)}`, ...commands] : commands
  const socket = connect({ host: url.hostname, port: Number(url.port || 6379) })
  const replies: string[] = []
  try {
    await once(socket, 'connect')
    for (const command of all) {
      socket.write(`${command}\r\n`)
      const [reply] = (await once(socket, 'data')) as [Buffer]
      const text = reply.toString().trim()
      if (text.startsWith('-')) throw new Error(`Redis answered ${text}`)
      replies.push(text.slice(1))
    }
    return url.password ? replies.slice(1) : replies
  } finally {
    socket.destroy()
  }
}
