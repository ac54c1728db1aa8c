import { silentLog } from './silent-log.ts'
import { type TestRedis, testRedis } from './test-redis.ts'

interface Opened<Connection> {
  readonly server: TestRedis
  readonly redis: Connection
  /** The connection of another process. */
  readonly other: Connection
}

type Open<Connection> = (options: {
  readonly url: string
  readonly log: typeof silentLog
  readonly name: string
}) => Promise<Connection>

/**
 * Gives the tests of a file a Redis. Call it at the top of the file; `opened` is called before the first test.
 * @param open opens a connection: `openRedis` of the store
 */
export function useRedis<Connection extends { close(): Promise<void> }>(
  open: Open<Connection>,
  opened: (world: Opened<Connection>) => void,
): void {
  let world: Opened<Connection> | undefined
  beforeAll(async () => {
    const server = await testRedis()
    const connect = (name: string): Promise<Connection> => open({ url: server.redisUrl, log: silentLog, name })
    world = { server, redis: await connect('test'), other: await connect('test-other') }
    opened(world)
  })
  afterAll(async () => {
    await Promise.all([world?.redis.close(), world?.other.close()])
    await world?.server.close()
  })
}
