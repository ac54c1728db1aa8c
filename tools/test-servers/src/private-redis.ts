import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findBinary } from './find-binary.ts'
import type { Home } from './home.ts'
import { startDaemon } from './process/daemon.ts'
import { ownEnvironment } from './process/own-environment.ts'
import { runningPid } from './process/pid-file.ts'
import type { RedisAddress } from './provider.ts'
import { redisAnswers } from './reachable.ts'
import { readPorts, rememberPorts } from './remember-ports.ts'
import { redisConfigFile } from './repository.ts'

/** `REDIS_SERVER` names another program with Redis' commands, such as `valkey-server`. */
export const redisBinary = (): string | undefined => findBinary(process.env['REDIS_SERVER'] || 'redis-server')

const portsFile = (home: Home): string => join(home.dataDir, 'redis-ports.json')

/** Starts the Redis of this home with the configuration of the Helm chart, unless it is running. */
export async function startPrivateRedis(home: Home, binary: string): Promise<RedisAddress> {
  if ((await runningPid(home, 'redis')) === undefined) {
    const dir = join(home.dataDir, 'redis')
    mkdirSync(dir, { recursive: true })
    const { redis: port } = await rememberPorts(portsFile(home), { redis: 0 })
    await startDaemon(home, {
      name: 'redis',
      command: binary,
      args: [redisConfigFile, '--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--databases', '64'],
      env: ownEnvironment(),
      cwd: dir,
      isReady: () => redisAnswers(port),
      readyWithinMs: 30_000,
    })
  }
  return { redisUrl: `redis://127.0.0.1:${readPorts(portsFile(home))['redis']}` }
}
