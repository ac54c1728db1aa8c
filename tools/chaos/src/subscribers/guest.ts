import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../load/client.ts'
import type { Closure, Post } from '../reconcile/observation.ts'
import { GUEST_BEHAVIOUR } from './behaviour.ts'
import { caughtUpAtMs, preciseNowMs } from './clock.ts'
import { type RunningEndpoint, startEndpoint } from './endpoint.ts'
import { subscribe } from './subscribe.ts'

const CALLS = 'call.status'
const { eventTypes: TYPES } = GUEST_BEHAVIOUR

/** The body of each PATCH, the body that undoes it, and the event types that it stops. */
const CHANGES = {
  enabled: { change: { enabled: false }, undo: { enabled: true }, stops: TYPES },
  eventTypes: {
    change: { eventTypes: TYPES.filter((type) => type !== CALLS) },
    undo: { eventTypes: TYPES },
    stops: [CALLS],
  },
} as const

async function change(
  client: Client,
  method: string,
  subscriptionId: string,
  expected: readonly number[],
  body?: object,
): Promise<number> {
  const { status } = await client.insist(method, `/api/v1/webhooks/subscriptions/${subscriptionId}`, body)
  const answeredAtMs = await caughtUpAtMs()
  if (!expected.includes(status)) throw new Error(`${method} of a subscription was answered ${status}`)
  return answeredAtMs
}

/** Changes a subscription and changes it back. Resolves to the time in which it must send no first attempt. */
export async function changeFor(
  client: Client,
  subscriptionId: string,
  { change: body, undo }: { readonly change: object; readonly undo: object },
  forMs: number,
): Promise<Pick<Closure, 'fromMs' | 'toMs'>> {
  const fromMs = await change(client, 'PATCH', subscriptionId, [200], body)
  await sleep(forMs)
  const toMs = preciseNowMs()
  await change(client, 'PATCH', subscriptionId, [200], undo)
  return { fromMs, toMs }
}

/** A subscription that is changed and deleted under load. Each new subscription after a DELETE has a new endpoint. */
export async function startGuest(client: Client, seed: number, note: (post: Post) => void) {
  const endpoints: RunningEndpoint[] = []
  const closures: Closure[] = []
  let subscriptionId = ''

  async function addEndpoint(): Promise<void> {
    const name = `${GUEST_BEHAVIOUR.name} ${endpoints.length + 1}`
    const endpoint = await startEndpoint({ ...GUEST_BEHAVIOUR, name }, seed, note)
    const { id, secret } = await subscribe(client, { url: endpoint.url, eventTypes: TYPES, description: name })
    endpoint.expect(secret)
    endpoints.push(endpoint)
    subscriptionId = id
  }

  const currentName = (): string => endpoints.at(-1)?.behaviour.name ?? ''

  await addEndpoint()
  return {
    /** Names of the endpoints, the current one last. */
    names: (): readonly string[] => endpoints.map(({ behaviour }) => behaviour.name),
    closures,
    /** Disables the subscription, or removes `call.status` from it. */
    patch: async (what: keyof typeof CHANGES, forMs: number): Promise<void> => {
      const { stops: eventTypes } = CHANGES[what]
      const span = await changeFor(client, subscriptionId, CHANGES[what], forMs)
      closures.push({ endpoint: currentName(), eventTypes, ...span })
    },
    /** Deletes the subscription and creates another one. */
    replace: async (): Promise<void> => {
      // 404: an earlier try got no answer but was carried out.
      const fromMs = await change(client, 'DELETE', subscriptionId, [204, 404])
      closures.push({ endpoint: currentName(), eventTypes: TYPES, fromMs, toMs: Number.POSITIVE_INFINITY })
      await addEndpoint()
    },
    close: async (): Promise<void> => void (await Promise.all(endpoints.map((endpoint) => endpoint.goDown()))),
  }
}
