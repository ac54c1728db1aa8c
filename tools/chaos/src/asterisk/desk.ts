import { CallState } from '@switchhook/contracts'
import type { Person } from '@switchhook/local'
import { waitUntil } from '@switchhook/test-servers'
import { startReceiver } from '@switchhook/testkit'
import type { Client, Reply } from '../load/client.ts'
import { isLater } from '../reconcile/observation.ts'
import { subscribe } from '../subscribers/subscribe.ts'
import type { LegEvent } from './check-calls.ts'

export type Desk = Awaited<ReturnType<typeof openDesk>>

const TRIES_FOR_MS = 10_000
const PATIENCE_MS = 5_000
const POLL_MS = 5

/** The client's side: commands over REST, results from webhooks only, and the people at the phones. */
export async function openDesk(client: Client, telephonesUrl: () => string, people: readonly Person[]) {
  const events: LegEvent[] = []
  const byLeg = new Map<string, LegEvent>()
  const liveOf = new Map<string, Set<string>>(people.map(({ agentUri }) => [agentUri, new Set()]))
  /** By the id of the command. */
  const sentAtMs = new Map<string, number>()
  const receiver = await startReceiver(({ body, receivedAt }) => {
    const { data, occurredAt } = JSON.parse(body.toString()) as { data: LegEvent; occurredAt: string }
    note({ ...data, occurredAtMs: Date.parse(occurredAt), receivedAtMs: receivedAt })
    return { status: 204 }
  })

  function note(event: LegEvent): void {
    events.push(event)
    const name = `${event.callId} ${event.agentUri}`
    const before = byLeg.get(name)
    if (before !== undefined && !isLater(event, before)) return
    byLeg.set(name, event)
    const live = liveOf.get(event.agentUri)
    if (event.state === CallState.ended) live?.delete(event.callId)
    else live?.add(event.callId)
  }

  await subscribe(client, { url: receiver.url('/calls'), eventTypes: ['call.status'] })

  return {
    events: events as readonly LegEvent[],
    /** Repeats a command while the api does not answer or answers 503, and notes when it was sent. */
    async command(path: string, body: object): Promise<Reply> {
      const reply = await client.persist(TRIES_FOR_MS, 'POST', `/api/v1/voice/calls/${path}`, body)
      const { commandId } = reply.body
      if (typeof commandId === 'string') sentAtMs.set(commandId, reply.sentAtMs)
      return reply
    },
    /** From the request of each command to the arrival of the first event with its id, in ms. */
    latencies: (): readonly { readonly ms: number; readonly sentAtMs: number }[] => {
      const reportedAtMs = new Map(events.toReversed().map(({ commandId, receivedAtMs }) => [commandId, receivedAtMs]))
      return [...sentAtMs].flatMap(([commandId, atMs]) => {
        const reportedMs = reportedAtMs.get(commandId)
        return reportedMs === undefined ? [] : [{ sentAtMs: atMs, ms: reportedMs - atMs }]
      })
    },
    /** The latest event of a leg. */
    latest: (callId: string, agentUri: string): LegEvent | undefined => byLeg.get(`${callId} ${agentUri}`),
    /** Calls of the agent that have begun and not ended. */
    live: (agentUri: string): readonly string[] => [...(liveOf.get(agentUri) ?? [])],
    until: (isSo: () => boolean, withinMs: number): Promise<boolean> => waitUntil(isSo, withinMs, POLL_MS),
    /** Steers a phone or an outside party; undefined if that was not possible. */
    async telephone(
      method: 'POST' | 'DELETE',
      path: string,
      body?: object,
    ): Promise<{ readonly id?: string } | undefined> {
      try {
        // Without Asterisk, a call from outside is never set up.
        const signal = AbortSignal.timeout(PATIENCE_MS)
        const request = { method, signal, ...(body && { body: JSON.stringify(body) }) }
        const response = await fetch(`${telephonesUrl()}${path}`, request)
        return response.ok ? ((await response.json()) as { id?: string }) : undefined
      } catch {
        return undefined
      }
    },
    [Symbol.asyncDispose]: (): Promise<void> => receiver.close(),
  }
}
