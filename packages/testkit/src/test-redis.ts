import { once } from 'node:events'
import { connect } from 'node:net'
import { infrastructureUrl } from './infrastructure-url.ts'

export interface TestRedis {
  readonly redisUrl: string
  /** Deletes all data except the installation id, so that running services continue. */
  flush(): Promise<void>
  /** Takes all data away, as if Redis had been restarted without its volume. Connections stay open. */
  lose(): Promise<void>
  /** Brings back what `lose` took away; what was written since is gone. */
  restore(): Promise<void>
  /** Writes a text without blanks at a key, whatever was there. */
  set(key: string, value: string): Promise<void>
  /** Sets `maxmemory` of the whole server: 1 makes it full, 0 removes the limit. Whoever sets it removes it again. */
  limitMemory(bytes: number): Promise<void>
  close(): Promise<void>
}

/** A Redis has databases 0 to 15 unless it is configured otherwise. */
const LAST_DATABASE = 15

/**
 * A Redis of the test file's own: the logical database with the number of Jest's worker, empty. Test files of one worker
 * run one after the other, so they never meet. Lost data is kept in another database, counted from the end.
 */
export async function testRedis(): Promise<TestRedis> {
  const url = new URL(infrastructureUrl('TEST_REDIS_URL'))
  const database = Number(process.env['JEST_WORKER_ID'] ?? 1)
  const spare = LAST_DATABASE - database
  url.pathname = `/${database}`
  const inDatabase = (...commands: readonly string[]): Promise<void> => tell(url, [`SELECT ${database}`, ...commands])
  const swap = `SWAPDB ${database} ${spare}`
  const clear = (): Promise<void> => tell(url, [`SELECT ${spare}`, 'FLUSHDB', `SELECT ${database}`, 'FLUSHDB'])
  await clear()
  return {
    redisUrl: url.href,
    flush: () => inDatabase(FLUSH_DATA),
    lose: () => tell(url, [`SELECT ${spare}`, 'FLUSHDB', swap]),
    restore: () => inDatabase(swap),
    limitMemory: (bytes) => tell(url, [`CONFIG SET maxmemory ${bytes}`]),
    set: (key, value) => inDatabase(`SET ${key} ${value}`),
    close: clear,
  }
}

/** An inline command: a script between double quotes. */
const FLUSH_DATA = `EVAL "${[
  "local installation = redis.call('HGETALL', 'sh:installation')",
  "redis.call('FLUSHDB')",
  "if #installation > 0 then redis.call('HSET', 'sh:installation', unpack(installation)) end",
  "return redis.status_reply('OK')",
].join(' ')}" 0`

/** For `TcpProxy.alter`: what a Redis answers to CONFIG GET that was started with `appendonly no` (RESP2, bulk strings). */
export function forgetful(chunk: Buffer): Buffer {
  const answer = chunk.toString('latin1').replace('appendonly\r\n$3\r\nyes', 'appendonly\r\n$2\r\nno')
  return Buffer.from(answer, 'latin1')
}

/** Sends inline commands (Redis protocol, "Inline commands") and wants +OK for each. */
async function tell(url: URL, commands: readonly string[]): Promise<void> {
  const user = url.username ? `${decodeURIComponent(url.username)} ` : ''
  const all = url.password ? [`AUTH ${user}${decodeURIComponent(url.password)}`, ...commands] : commands
  const socket = connect({ host: url.hostname, port: Number(url.port || 6379) })
  try {
    await once(socket, 'connect')
    for (const command of all) {
      socket.write(`${command}\r\n`)
      const [reply] = (await once(socket, 'data')) as [Buffer]
      if (!reply.toString().startsWith('+OK')) throw new Error(`Redis answered ${reply.toString().trim()}`)
    }
  } finally {
    socket.destroy()
  }
}
