import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Home, openHome } from './home.ts'
import {
  nodeName,
  rabbitmqBinary,
  reserveAddress,
  runControl,
  startEpmd,
  startPrivateRabbitmq,
  stopPrivateRabbitmq,
} from './private-rabbitmq.ts'
import { stopDaemon } from './process/daemon.ts'
import { freePort } from './process/free-port.ts'
import { ownEnvironment } from './process/own-environment.ts'
import { runningPid } from './process/pid-file.ts'
import { waitUntil } from './process/wait-until.ts'
import { BackingUnavailable } from './provider.ts'
import { rabbitmqMembersConfigFile } from './repository.ts'

export interface ClusterNode {
  /** The node name in RabbitMQ. */
  readonly name: string
  readonly amqpUrl: string
  readonly managementUrl: string
  /** kill -9 */
  kill(): Promise<void>
  /** Starts the node, on the same ports with its data. A node that starts for the first time joins the cluster. */
  start(): Promise<void>
}

/**
 * Starts a cluster of RabbitMQ nodes on loopback, each with its own home in the folder.
 * @param running how many of the `size` nodes to start now; the others join when they are started
 * @param growsItself whether RabbitMQ adds missing members to queues, which needs RabbitMQ 3.13
 */
export async function startPrivateCluster(folder: string, size: number, { running = size, growsItself = false } = {}) {
  const binary = rabbitmqBinary()
  if (binary === undefined) throw new BackingUnavailable('rabbitmq-server is not installed')
  const shared = openHome(join(folder, 'shared'))
  const settings = {
    portMapper: await freePort(),
    cookie: randomUUID().replaceAll('-', '').toUpperCase(),
    ...(growsItself && { configFiles: [rabbitmqMembersConfigFile] }),
  }
  await startEpmd(shared, settings.portMapper, { ...ownEnvironment(), ERL_EPMD_ADDRESS: '127.0.0.1' })
  const homes = Array.from({ length: size }, (_, n) => openHome(join(folder, `node-${n + 1}`)))
  const stop = async (): Promise<void> => {
    await Promise.all(homes.map((home) => stopPrivateRabbitmq(home, 0)))
    await stopDaemon(shared, 'epmd', 0)
  }
  const first = nodeName(homes[0] ?? shared)
  const joined = new Set([first])

  async function start(home: Home): Promise<void> {
    await startPrivateRabbitmq(home, binary ?? '', settings)
    if (joined.has(nodeName(home))) return
    for (const args of [['stop_app'], ['join_cluster', first], ['start_app']]) await control(home, 'rabbitmqctl', args)
    joined.add(nodeName(home))
  }
  async function openNode(home: Home): Promise<ClusterNode> {
    const { amqpUrl, managementUrl } = await reserveAddress(home, settings)
    return {
      name: nodeName(home),
      amqpUrl,
      managementUrl: managementUrl ?? '',
      kill: async () => {
        const pid = await runningPid(home, 'rabbitmq')
        if (pid === undefined) return
        process.kill(pid, 'SIGKILL')
        await waitUntil(async () => (await runningPid(home, 'rabbitmq')) === undefined, 10_000)
      },
      start: () => start(home),
    }
  }

  try {
    const nodes: ClusterNode[] = []
    for (const home of homes) nodes.push(await openNode(home))
    for (const node of nodes.slice(0, running)) await node.start()
    /** Gives every quorum queue a member on the node (`rabbitmq-queues grow`). */
    const grow = (node: ClusterNode): Promise<void> =>
      control(homes[0] ?? shared, 'rabbitmq-queues', ['grow', node.name, 'all'])
    return { nodes, grow, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function control(home: Home, name: 'rabbitmqctl' | 'rabbitmq-queues', args: readonly string[]): Promise<void> {
  const said = await runControl(home, name, args)
  if (said === undefined) throw new BackingUnavailable(`${name} is not installed`)
  if (!said.ok) throw new Error(`${name} ${args.join(' ')} failed: ${said.output}`)
}
