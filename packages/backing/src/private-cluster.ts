import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openHome } from './home.ts'
import { nodeName, rabbitmqBinary, startEpmd, startPrivateRabbitmq, stopPrivateRabbitmq } from './private-rabbitmq.ts'
import { stopDaemon } from './process/daemon.ts'
import { freePort } from './process/free-port.ts'
import { runningPid } from './process/pid-file.ts'
import { runCommand } from './process/run-command.ts'
import { waitUntil } from './process/wait-until.ts'
import { BackingUnavailable } from './provider.ts'

export interface ClusterNode {
  /** The node name in RabbitMQ. */
  readonly name: string
  readonly amqpUrl: string
  readonly managementUrl: string
  /** kill -9 */
  kill(): Promise<void>
  /** Restarts the node on the same ports with its data. */
  start(): Promise<void>
}

export interface PrivateCluster {
  readonly nodes: readonly ClusterNode[]
  stop(): Promise<void>
}

/** Starts `size` RabbitMQ nodes on loopback, each with its own home in the folder, and joins them to a cluster. */
export async function startPrivateCluster(folder: string, size: number): Promise<PrivateCluster> {
  const binary = rabbitmqBinary()
  if (binary === undefined) throw new BackingUnavailable('rabbitmq-server is not installed')
  const shared = openHome(join(folder, 'shared'))
  const settings = { portMapper: await freePort(), cookie: randomUUID().replaceAll('-', '').toUpperCase() }
  await startEpmd(shared, settings.portMapper, { ...process.env, ERL_EPMD_ADDRESS: '127.0.0.1' })
  const homes = Array.from({ length: size }, (_, n) => openHome(join(folder, `node-${n + 1}`)))
  const stop = async (): Promise<void> => {
    await Promise.all(homes.map((home) => stopPrivateRabbitmq(home, 0)))
    await stopDaemon(shared, 'epmd', 0)
  }
  try {
    const nodes: ClusterNode[] = []
    for (const home of homes) {
      const { amqpUrl, managementUrl, control } = await startPrivateRabbitmq(home, binary, settings)
      if (managementUrl === null || control === undefined) throw new BackingUnavailable('rabbitmqctl is not installed')
      const [first] = nodes
      for (const args of first === undefined ? [] : [['stop_app'], ['join_cluster', first.name], ['start_app']]) {
        const said = await runCommand(control.command, [...control.args, ...args], {
          env: { ...process.env, ...control.env },
          timeoutMs: 60_000,
        })
        if (!said.ok) throw new Error(`rabbitmqctl ${args.join(' ')} failed: ${said.output}`)
      }
      nodes.push({
        name: nodeName(home),
        amqpUrl,
        managementUrl,
        kill: async () => {
          const pid = await runningPid(home, 'rabbitmq')
          if (pid === undefined) return
          process.kill(pid, 'SIGKILL')
          await waitUntil(async () => (await runningPid(home, 'rabbitmq')) === undefined, 10_000)
        },
        start: async () => void (await startPrivateRabbitmq(home, binary, settings)),
      })
    }
    return { nodes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
