import type { Client, Schemas } from '@switchhook/client'
import type { ReceiverAnswer } from './answer.ts'
import type { Incoming } from './apply.ts'
import { type AnyEvent, subjectOf } from './events.ts'

/** What `reconcile` reads from the API. */
export type ReadClient = Pick<Client, 'me' | 'calls' | 'agents'>

export interface Reconciled {
  /** When the reading began: calls that began later may be missing. ISO 8601, UTC. */
  readonly startedAt: string
  /** The legs that live, or have ended within ten minutes. A call that is missing ended before. */
  readonly calls: readonly Schemas['CallLeg'][]
  readonly agents: readonly Schemas['AgentWithCalls'][]
}

/** The state of an agent without an event is older than each event. */
const BEFORE_ALL = new Date(0).toISOString()
const BY_RECONCILE = { deliveryId: null, eventId: null, attempt: 0 }

/** Reads the calls and agents of the tenant, and applies what is newer. */
export async function reconcile(
  client: ReadClient,
  apply: (incoming: Incoming) => Promise<ReceiverAnswer>,
): Promise<Reconciled> {
  const startedAt = new Date().toISOString()
  const { tenant } = await client.me.read()
  const calls = await all(client.calls.list({ limit: 100 }))
  const agents = await all(client.agents.list({ limit: 100 }))
  const events: AnyEvent[] = [
    ...calls.map((data) => ({ eventType: 'call.status', occurredAt: data.occurredAt, tenant, data })),
    ...agents.map((data) => ({ eventType: 'agent.status', occurredAt: data.occurredAt ?? BEFORE_ALL, tenant, data })),
  ].map((event) => ({ ...event, data: { ...event.data } }))
  for (const event of events) {
    const { status, reason } = await apply({ id: idOf(event), event, about: BY_RECONCILE })
    if (status >= 500) throw new Error(`The state of ${idOf(event)} was not applied. ${reason ?? ''}`)
  }
  return { startedAt, calls, agents }
}

/** The same snapshot is applied once. */
const idOf = (event: AnyEvent): string => {
  const { subject = '', position } = subjectOf(event) ?? {}
  return `${subject} ${position?.occurredAt ?? ''} ${position?.sequence ?? ''}`
}

async function all<Item>(pages: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of pages) items.push(item)
  return items
}
