import type { Session } from './link.ts'
import type { Topology } from './topology.ts'

/**
 * Declares all of it; what is there already stays. Rejects, and the connection is given up, when something is there with
 * other arguments (406) or may not be declared (403).
 */
export async function assertTopology({ model, fail }: Session, topology: Topology): Promise<void> {
  const channel = await model.createChannel()
  channel.on('error', fail)
  for (const [name, type] of Object.entries(topology.exchanges)) {
    await channel.assertExchange(name, type, { durable: true })
  }
  for (const [name, queueArguments] of Object.entries(topology.queues)) {
    await channel.assertQueue(name, { durable: true, arguments: queueArguments })
  }
  for (const { from, key, to } of topology.bindings) await channel.bindQueue(to, from, key)
  await channel.close()
}
