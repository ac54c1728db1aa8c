import { rmSync } from 'node:fs'
import { type ClusterNode, rabbitmqVersion, startPrivateCluster, temporaryFolder } from '@switchhook/test-servers'
import { type Management, openManagement } from './management.ts'

export interface BrokerNode extends ClusterNode {
  readonly management: Management
}

export type BrokerCluster = Awaited<ReturnType<typeof startBrokerCluster>>

/** Whether this machine's RabbitMQ knows the settings of `members.conf`. */
export function canGrowQueues(): boolean {
  const [major = 0, minor = 0] = (rabbitmqVersion() ?? '').split('.').map(Number)
  return major > 3 || (major === 3 && minor >= 13)
}

/**
 * Prepares a cluster of three private RabbitMQ nodes with the program of this machine, and starts `running` of them; the
 * others join when they are started. Three nodes take about half a minute.
 * @param options.growsItself whether RabbitMQ adds missing members to queues (`members.conf`)
 */
export async function startBrokerCluster({ running = 3, growsItself = false } = {}) {
  const folder = temporaryFolder('switchhook-cluster-')
  const cluster = await startPrivateCluster(folder, 3, { running, growsItself })
  return {
    nodes: cluster.nodes.map((node): BrokerNode => ({ ...node, management: openManagement(node.managementUrl, '/') })),
    /** Gives every quorum queue a member on the node, as an operator does with `rabbitmq-queues grow`. */
    grow: cluster.grow,
    close: async (): Promise<void> => {
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
