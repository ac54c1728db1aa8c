import { CallState } from '@switchhook/contracts'
import { startReceiver } from '@switchhook/testkit'
import type { Client } from '../load/client.ts'
import { subscribe } from '../subscribers/subscribe.ts'

const EXPIRES_S = 10
/** The age is judged before an attempt, which may wait for a turn and take its deadline. */
const SLACK_MS = 5_000

/** Settings by which something is not sent, and which an older worker does not know (ADR 0074). */
const GUARDED: Readonly<Record<string, object>> = {
  filtered: { filter: { 'call.status': { agentUri: ['sip:nobody@acme.example'] } } },
  paused: { paused: true },
  expiring: { expireAfterSeconds: EXPIRES_S },
}

/** Subscriptions that only a new api can create, for workers of both versions. */
export interface GuardedSubscriptions {
  /** Creates them. Call while all apis are new. */
  subscribe(): Promise<void>
  /** Deletes them, so that an old worker withdraws what waits for a new one. */
  remove(): Promise<void>
  /** What was sent although a setting withholds it. */
  problems(): readonly string[]
  close(): Promise<void>
}

export async function startGuarded(client: Client): Promise<GuardedSubscriptions> {
  const receiver = await startReceiver()
  const ids: string[] = []
  return {
    subscribe: async () => {
      for (const [name, settings] of Object.entries(GUARDED)) {
        const body = { url: receiver.url(`/${name}`), eventTypes: ['call.status'], ...settings }
        ids.push((await subscribe(client, body)).id)
      }
    },
    remove: async () => {
      for (const id of ids) await client.insist('DELETE', `/api/v1/webhooks/subscriptions/${id}`)
    },
    problems: () => [
      ...['filtered', 'paused'].flatMap((name) =>
        receiver
          .requests(`/${name}`)
          .map(({ headers }) => `a ${name} subscription got ${String(headers['x-svc-delivery'])}`),
      ),
      ...receiver.requests('/expiring').flatMap(({ body, headers, receivedAt }) => {
        const { occurredAt, data } = JSON.parse(body.toString()) as { occurredAt: string; data: { state?: number } }
        const ageMs = receivedAt - Date.parse(occurredAt)
        const mayBeOld = data.state === CallState.ended || ageMs <= EXPIRES_S * 1_000 + SLACK_MS
        return mayBeOld ? [] : [`${String(headers['x-svc-delivery'])} was sent ${ageMs} ms after its event`]
      }),
      ...(receiver.requests('/expiring').length === 0 ? ['new workers sent nothing of an expiring subscription'] : []),
    ],
    close: () => receiver.close(),
  }
}
