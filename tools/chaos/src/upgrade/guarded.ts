import { CallState } from '@switchhook/contracts'
import { startReceiver } from '@switchhook/testkit'
import type { Client } from '../load/client.ts'
import type { Problem } from '../reconcile/problem.ts'
import { subscribe } from '../subscribers/subscribe.ts'

const EXPIRES_S = 10
/** The age is judged before an attempt, which may wait for a turn and take its deadline. */
const SLACK_MS = 5_000
/** Two POSTs that begin closer together were in flight at the same time. Timers round. */
const ANSWER_MS = 50
const TIMER_SLACK_MS = 5

/** Settings that an older worker does not know, and without which a delivery would be wrong (ADR 0074). */
const GUARDED: Readonly<Record<string, object>> = {
  filtered: { filter: { 'call.status': { agentUri: ['sip:nobody@acme.example'] } } },
  paused: { paused: true },
  expiring: { expireAfterSeconds: EXPIRES_S },
  keyed: { headers: { 'x-api-key': 'guarded' } },
  limited: { maxInFlight: 1 },
}
/** New workers deliver to these. */
const DELIVERED = ['expiring', 'keyed', 'limited']

/** Subscriptions that only a new api can create, for workers of both versions. */
export async function startGuarded(client: Client) {
  const receiver = await startReceiver()
  receiver.answer('/limited', { delayMs: ANSWER_MS })
  const ids: string[] = []
  return {
    /** Creates them. Call while all apis are new. */
    subscribe: async (): Promise<void> => {
      for (const [name, settings] of Object.entries(GUARDED)) {
        const body = { url: receiver.url(`/${name}`), eventTypes: ['call.status'], ...settings }
        ids.push((await subscribe(client, body)).id)
      }
    },
    /** Deletes them, so that an old worker withdraws what waits for a new one. */
    remove: async (): Promise<void> => {
      for (const id of ids) await client.insist('DELETE', `/api/v1/webhooks/subscriptions/${id}`)
    },
    /** What was sent against a setting. */
    problems: (): readonly Problem[] =>
      [
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
        ...receiver
          .requests('/keyed')
          .filter(({ headers }) => headers['x-api-key'] !== 'guarded')
          .map(({ headers }) => `${String(headers['x-svc-delivery'])} was sent without its subscription's header`),
        ...receiver.requests('/limited').flatMap(({ headers, receivedAt }, i, all) => {
          const afterMs = receivedAt - (all[i - 1]?.receivedAt ?? 0)
          const isEarly = afterMs < ANSWER_MS - TIMER_SLACK_MS
          return isEarly ? [`${String(headers['x-svc-delivery'])} was sent ${afterMs} ms after another one`] : []
        }),
        ...DELIVERED.filter((name) => receiver.requests(`/${name}`).length === 0).map(
          (name) => `new workers sent nothing to the ${name} subscription`,
        ),
      ].map((what) => ({ kind: 'against a setting', what })),
    [Symbol.asyncDispose]: (): Promise<void> => receiver.close(),
  }
}
