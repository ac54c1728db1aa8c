import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from './home.ts'
import { ownEnvironment, PROXIES } from './process/own-environment.ts'
import { removePidFile, writePidFile } from './process/pid-file.ts'
import { type Say, withProgress } from './process/progress.ts'
import { type CommandResult, runCommand } from './process/run-command.ts'
import { type BackingName, type BackingProvider, BackingUnavailable } from './provider.ts'
import { rememberPorts } from './remember-ports.ts'
import { composeFile, composePortsFile } from './repository.ts'

const PORTS = { amqp: 0, management: 0, metrics: 0, redis: 0 }

/** The user that docker-compose.yml gives the broker. */
const USER = 'switchhook:switchhook'

/**
 * Starts RabbitMQ and Redis of docker-compose.yml, with a project name and host ports that belong to this home. Their data
 * is in the project's volumes and survives `stop`, unless `discardData` is set.
 */
export function composeProvider(
  home: Home,
  say: Say,
  options: { readonly discardData?: boolean } = {},
): BackingProvider {
  const portsFile = join(home.dataDir, 'compose-ports.json')
  const compose = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandResult> =>
    runCommand(
      'docker',
      ['compose', '-p', `switchhook-${home.id}`, '-f', composeFile, '-f', composePortsFile, ...args],
      {
        env: { ...ownEnvironment(PROXIES), ...env },
        timeoutMs: 600_000,
      },
    )

  return {
    name: 'docker',
    missing: missingDocker,
    start: async (wanted) => {
      if (!(await runCommand('docker', ['compose', 'version'])).ok) {
        throw new BackingUnavailable('Docker is running, but the compose plugin is not installed')
      }
      const running = await compose(['ps', '--status', 'running', '--services'])
      const services = running.stdout.split('\n')
      const kept = [
        ...(services.includes('rabbitmq') ? ['amqp', 'management', 'metrics'] : []),
        ...(services.includes('redis') ? ['redis'] : []),
      ]
      const ports = await rememberPorts(portsFile, PORTS, new Set(kept))
      const { ok, output } = await withProgress(
        say,
        'containers are starting (images are pulled the first time)',
        compose(['up', '--detach', '--wait', ...wanted], {
          RABBITMQ_PORT: String(ports.amqp),
          RABBITMQ_MANAGEMENT_PORT: String(ports.management),
          RABBITMQ_METRICS_PORT: String(ports.metrics),
          REDIS_PORT: String(ports.redis),
        }),
      )
      if (!ok) {
        await compose(['down'])
        rmSync(portsFile, { force: true })
        throw new BackingUnavailable(`docker compose up failed (${output.trim().split('\n').at(-1) ?? ''})`)
      }
      await Promise.all(wanted.map((name) => rememberContainer(home, name, compose)))
      return {
        rabbitmq: {
          amqpUrl: `amqp://${USER}@127.0.0.1:${ports.amqp}`,
          managementUrl: `http://${USER}@127.0.0.1:${ports.management}`,
          metricsUrl: `http://127.0.0.1:${ports.metrics}/metrics`,
        },
        redis: { redisUrl: `redis://127.0.0.1:${ports.redis}` },
      }
    },
    stop: async () => {
      // Without a Docker engine there are no containers to stop.
      if (!existsSync(portsFile) || (await missingDocker()) !== undefined) return
      const { ok, output } = await withProgress(
        say,
        'containers are stopping',
        compose(options.discardData ? ['down', '--volumes'] : ['down']),
      )
      if (!ok) throw new Error(`docker compose down failed: ${output.trim()}`)
      removePidFile(home, 'rabbitmq')
      removePidFile(home, 'redis')
    },
  }
}

/** If the engine shares this kernel, the process in the container has a pid here, which goes into the pid file. */
async function rememberContainer(
  home: Home,
  name: BackingName,
  compose: (args: readonly string[]) => Promise<CommandResult>,
): Promise<void> {
  const { stdout: id } = await compose(['ps', '--quiet', name])
  const { stdout } = await runCommand('docker', ['inspect', '--format', '{{.State.Pid}}', id.trim()])
  const pid = Number(stdout)
  if (pid > 1) await writePidFile(home, name, pid)
}

/** Returns why containers cannot run here, or undefined. An engine must answer within 5 s. */
export async function missingDocker(): Promise<string | undefined> {
  const { ok, stdout } = await runCommand('docker', ['version', '--format', '{{.Server.Version}}'], {
    timeoutMs: 5_000,
  })
  return ok && stdout.trim() !== '' ? undefined : 'no Docker engine answers'
}
