import type { ChannelModel } from 'amqplib'
import { onOwnChannel } from '../link/session.ts'
import type { Topology } from './topology.ts'

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
