import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, redisAnswers, redisBinary, temporaryFolder, waitUntil } from '@switchhook/test-servers'

export interface RedisServer {
  readonly port: number
  /** kill -9 */
  kill(): Promise<void>
  /** Restarts the server on the same port with its data. */
  start(): Promise<void>
}

export type RedisServers = ReturnType<typeof redisServers>

/** Whether Redis is installed on this machine. If not, tests that need a private server are skipped. */
export const canStartRedis = (): boolean => redisBinary() !== undefined

const HERE = '127.0.0.1'
const COMMON = ['--bind', HERE, '--appendonly', 'yes', '--save', '']

/** Several private Redis servers on loopback, each with its own folder, from the program of this machine. */
export function redisServers() {
  const folder = temporaryFolder('switchhook-redis-')
  const running = new Set<ChildProcess>()
  const binary = redisBinary() ?? 'redis-server'

  async function end(child: ChildProcess | undefined): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    running.delete(child)
  }

  async function startServer(
    port: number,
    args: readonly string[],
    isUp = (): Promise<boolean> => redisAnswers(port),
  ): Promise<RedisServer> {
    const dir = join(folder, String(port))
    mkdirSync(dir, { recursive: true })
    let child: ChildProcess | undefined
    const server: RedisServer = {
      port,
      start: async () => {
        const started = spawn(binary, [...args, '--port', String(port), '--dir', dir], { stdio: 'ignore' })
        started.on('error', () => {}) // The check below fails then.
        child = started
        running.add(started)
        if (!(await waitUntil(isUp, 10_000))) throw new Error(`Redis does not answer on port ${port}`)
      },
      kill: () => end(child),
    }
    await server.start()
    return server
  }

  return {
    start: async (...args: readonly string[]): Promise<RedisServer> =>
      await startServer(await freePort(), [...COMMON, ...args]),
    /** Starts a server whose port takes TLS only; `args` name its certificate. */
    startTls: async (...args: readonly string[]): Promise<RedisServer> => {
      const [port, plainPort] = [await freePort(), await freePort()]
      const server = await startServer(plainPort, [...COMMON, '--tls-port', String(port), ...args], () =>
        acceptsConnections(port),
      )
      return { ...server, port }
    },
    /** Starts a sentinel that watches a primary and promotes its replica. */
    startSentinel: async (primary: RedisServer, name: string): Promise<RedisServer> => {
      const file = join(folder, `${name}.conf`)
      const monitor = [
        `sentinel monitor ${name} ${HERE} ${primary.port} 1`,
        `sentinel down-after-milliseconds ${name} 500`,
        `sentinel failover-timeout ${name} 3000`,
        `bind ${HERE}`,
      ]
      writeFileSync(file, `${monitor.join('\n')}\n`)
      return await startServer(await freePort(), [file, '--sentinel'])
    },
    /** Runs `redis-cli` and returns its output. */
    cli: async (...args: readonly string[]): Promise<string> =>
      (await promisify(execFile)('redis-cli', args, { timeout: 60_000 })).stdout,
    close: async (): Promise<void> => {
      await Promise.all([...running].map(end))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const acceptsConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: HERE, port }, () => resolve(true)).once('error', () => resolve(false))
    socket.unref().on('connect', () => socket.destroy())
  })
