import { randomUUID } from 'node:crypto'
import type { ChannelModel } from 'amqplib'
import { type BrokerAddress, closeInTime, connectToAny, isRefusal, onOwnChannel, queueExists } from '../link/session.ts'
import { Queue, type Topology } from './topology.ts'

/**
 * Declares a topology; existing queues and exchanges stay. Rejects if one exists with other arguments (406) or may not be
 * declared (403), or if an expected queue is missing (404); the connection is then given up.
 */
export async function assertTopology(
  model: ChannelModel,
  { exchanges, alternates = {}, queues, bindings, exchangeBindings = [], expected = [] }: Topology,
): Promise<void> {
  await onOwnChannel(model, async (channel) => {
    for (const [name, type] of Object.entries(exchanges)) {
      const alternateExchange = alternates[name]
      await channel.assertExchange(name, type, {
        durable: true,
        ...(alternateExchange !== undefined && { alternateExchange }),
      })
    }
    for (const [name, queueArguments] of Object.entries(queues)) {
      await channel.assertQueue(name, { durable: true, arguments: queueArguments })
    }
    for (const { from, key, to } of bindings) await channel.bindQueue(to, from, key)
    for (const { from, key, to, arguments: matching } of exchangeBindings)
      await channel.bindExchange(to, from, key, matching)
    // After everything of its own: services that expect each other's queues must not wait in a circle.
    for (const name of expected) await channel.checkQueue(name)
  })
}

/** RabbitMQ answers this for a queue that belongs to another connection; for a queue that it does not know, 404. */
const RESOURCE_LOCKED = 405

/**
 * Rejects until enough nodes of a new cluster run. A quorum queue gets its members when it is declared, on the nodes that
 * the cluster has at that moment; declared on the first node that is up, it would have one member for good. Once the queues
 * exist, a missing node is no reason to wait.
 * @param formedBy how many of the address's nodes must run
 */
export async function requireFormedCluster(
  model: ChannelModel,
  address: BrokerAddress,
  formedBy: number,
): Promise<void> {
  const urls = [address.url].flat()
  if (formedBy <= 1 || (await queueExists(model, Queue.quarantine))) return
  // Exclusive: gone with this connection, and known to the nodes of this cluster only. The prefix is that of the exchanges,
  // for users whose permissions are limited by name.
  const mark = `switchhook.formed.${randomUUID()}`
  const members = await onOwnChannel(model, async (channel) => {
    await channel.assertQueue(mark, { exclusive: true, durable: false })
    const known = await Promise.all(urls.map((node) => knows(mark, { ...address, url: node })))
    await channel.deleteQueue(mark)
    return known
  })
  const running = members.filter(Boolean).length
  if (running < formedBy) {
    throw new Error(
      `the RabbitMQ cluster is not formed yet: ${running} of the ${urls.length} nodes in AMQP_URL belong to it and run, and ${formedBy} are needed before queues are declared (AMQP_NODES)`,
    )
  }
}

/** Whether a node can be reached and sees the queue of another connection. */
async function knows(queue: string, address: BrokerAddress): Promise<boolean> {
  let model: ChannelModel | undefined
  try {
    model = await connectToAny(address, 'switchhook cluster check')
    await onOwnChannel(model, (channel) => channel.checkQueue(queue))
    return true
  } catch (error) {
    return isRefusal(error, RESOURCE_LOCKED)
  } finally {
    if (model !== undefined) await closeInTime(model).catch(() => {})
  }
}
