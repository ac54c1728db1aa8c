import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClusterNode, startPrivateCluster } from '@switchhook/backing'
import { type Management, openManagement } from './management.ts'

export interface BrokerNode extends ClusterNode {
  readonly management: Management
}

export interface BrokerCluster {
  readonly nodes: readonly BrokerNode[]
  close(): Promise<void>
}

/** Starts a cluster of three private RabbitMQ nodes with the program of this machine. Takes about half a minute. */
export async function startBrokerCluster(): Promise<BrokerCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-cluster-'))
  const cluster = await startPrivateCluster(folder, 3)
  return {
    nodes: cluster.nodes.map((node) => ({ ...node, management: openManagement(node.managementUrl, '/') })),
    close: async () => {
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
